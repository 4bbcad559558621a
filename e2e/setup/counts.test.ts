import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { countCommand, countPlaywright, countReport, countVitest } from "./counts.mjs";

const folder = mkdtempSync(join(tmpdir(), "orbax-webgpu-counts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const finished = (code: number) => ({ code, output: "words", stdout: "words", stderr: "" });
const report = { numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 };

function reportFile(content: unknown): string {
  const file = join(folder, "report.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe("the counts of a stage", () => {
  it("is one for a command", () => {
    expect(countCommand(finished(0))).toMatchObject({ passed: 1, failed: 0 });
    expect(countCommand(finished(2))).toMatchObject({ passed: 0, failed: 1, output: "words" });
  });

  it("is what vitest's report says", () => {
    expect(countReport(finished(1), reportFile(report), countVitest)).toEqual({ passed: 5, failed: 1, skipped: 3, output: "words" });
  });

  it("is what Playwright's report says, a flaky test failed", () => {
    expect(countPlaywright({ stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 2 } })).toEqual({ passed: 4, failed: 2, skipped: 2 });
  });

  it("has a failure when the runner ended badly without a failed test", () => {
    const result = countReport(finished(1), reportFile({ ...report, numFailedTests: 0 }), countVitest);
    expect(result).toMatchObject({ passed: 5, failed: 1 });
    expect(result.output).toContain("ended with code 1");
  });

  it("has a failure when there is no report", () => {
    const result = countReport(finished(0), join(folder, "absent.json"), countVitest);
    expect(result).toMatchObject({ passed: 0, failed: 1 });
    expect(result.output).toContain("wrote no report (code 0)");
  });
});
