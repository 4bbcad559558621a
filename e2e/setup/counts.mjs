// @ts-check
import { existsSync, readFileSync } from "node:fs";

/**
 * How a stage went. A stage that ran no test has failed, and so has one that exited badly without a failed test.
 * @typedef {{ passed: number, failed: number, skipped: number, output: string }} StageResult
 */

/**
 * One command that counts as one test.
 * @param {import("./commands.mjs").Finished} finished
 * @returns {StageResult}
 */
export const countCommand = ({ code, output }) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0, output });

/** The counts of vitest's JSON report. */
export const countVitest = (/** @type {any} */ report) => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests,
  skipped: report.numPendingTests + report.numTodoTests,
});

/** The counts of Playwright's JSON report; a flaky test has failed. */
export const countPlaywright = (/** @type {any} */ { stats }) => ({
  passed: stats.expected,
  failed: stats.unexpected + stats.flaky,
  skipped: stats.skipped,
});

/**
 * Counts the tests of a runner that wrote a JSON report.
 * @param {import("./commands.mjs").Finished} finished
 * @param {string} reportFile Must have been removed before the run.
 * @param {(report: any) => { passed: number, failed: number, skipped: number }} count
 * @returns {StageResult}
 */
export function countReport({ code, output }, reportFile, count) {
  if (!existsSync(reportFile))
    return { passed: 0, failed: 1, skipped: 0, output: `${output}\nthe test runner wrote no report (code ${code})\n` };
  const counts = count(JSON.parse(readFileSync(reportFile, "utf8")));
  if (code === 0 || counts.failed > 0) return { ...counts, output };
  return { ...counts, failed: 1, output: `${output}\nthe test runner ended with code ${code}\n` };
}
