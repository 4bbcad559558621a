// @ts-check
/**
 * One part of `npm test`.
 * @typedef {object} Stage
 * @property {string} id What `--only` calls it.
 * @property {string} name What its line calls it.
 * @property {readonly string[]} [needs] Stages that must have passed; they run first, also with `--only`.
 * @property {() => Promise<import("./counts.mjs").StageResult | { notRun: string }>} run
 */

/**
 * Runs stages in order, one line each, the output of a failed one in full, and last the line `N passed, N failed`. A stage
 * whose needs failed counts as failed; one that ran no test or skipped some, too.
 * @param {{ stages: readonly Stage[], only?: readonly string[] | undefined, ci?: boolean, write?: (text: string) => void, now?: () => number }} options
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runStages({ stages, only, ci = false, write = (text) => process.stdout.write(text), now = Date.now }) {
  const totals = { passed: 0, failed: 0 };
  /** @type {Set<string>} */
  const broken = new Set();
  for (const stage of chosenStages(stages, only)) {
    const start = now();
    const result = await resultOf(stage, broken, ci);
    if ("notRun" in result) {
      write(`${stage.id}: not run, because ${result.notRun}\n`);
      continue;
    }
    totals.passed += result.passed;
    totals.failed += result.failed;
    if (result.failed > 0) broken.add(stage.id);
    write(stageLine(stage.name, result, now() - start));
    if (result.failed > 0) write(`\n${result.output.trimEnd()}\n\n`);
  }
  write(`${totals.passed} passed, ${totals.failed} failed\n`);
  return totals;
}

/** @param {string} name @param {import("./counts.mjs").StageResult} result @param {number} milliseconds */
function stageLine(name, result, milliseconds) {
  const seconds = `${(milliseconds / 1000).toFixed(1)} s`;
  return `${result.failed > 0 ? "✗" : "✓"} ${name.padEnd(nameWidth)} ${countsText(result)} ${seconds.padStart(8)}\n`;
}

const nameWidth = 16;

/**
 * The stages that `--only` names, with what they need, in their usual order; all of them without it.
 * @param {readonly Stage[]} stages
 * @param {readonly string[] | undefined} only
 */
export function chosenStages(stages, only) {
  if (only === undefined) return stages;
  const unknown = only.filter((id) => !stages.some((stage) => stage.id === id));
  if (unknown.length > 0) {
    throw new Error(`there is no stage ${unknown.join(", ")}; the stages are ${stages.map(({ id }) => id).join(", ")}`);
  }
  const wanted = new Set(only);
  for (const stage of [...stages].reverse()) if (wanted.has(stage.id)) for (const id of stage.needs ?? []) wanted.add(id);
  return stages.filter(({ id }) => wanted.has(id));
}

/**
 * @param {Stage} stage
 * @param {ReadonlySet<string>} broken
 * @param {boolean} ci
 * @returns {Promise<import("./counts.mjs").StageResult | { notRun: string }>}
 */
async function resultOf(stage, broken, ci) {
  const missing = (stage.needs ?? []).filter((id) => broken.has(id));
  if (missing.length > 0) return failure(`not run, because this failed: ${missing.join(", ")}`);
  try {
    const result = await stage.run();
    if ("notRun" in result) return ci ? failure(`${stage.id}: not run, because ${result.notRun}`) : result;
    if (result.failed > 0) return result;
    if (result.passed === 0) return failure(`${result.output}\nno test ran`);
    if (ci && result.skipped > 0)
      return { ...result, failed: result.skipped, output: `${result.output}\nskipped tests count as failed in CI` };
    return result;
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

/** @returns {import("./counts.mjs").StageResult} */
const failure = (/** @type {string} */ output) => ({ passed: 0, failed: 1, skipped: 0, output });

/** @param {import("./counts.mjs").StageResult} result */
function countsText({ passed, failed, skipped }) {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return parts.join(", ").padEnd(24);
}
