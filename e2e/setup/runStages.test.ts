import { describe, expect, it } from "vitest";
import { chosenStages, runStages } from "./runStages.mjs";

type Stage = Parameters<typeof runStages>[0]["stages"][number];

const stage = (id: string, result: Awaited<ReturnType<Stage["run"]>>, needs: string[] = []): Stage => ({
  id,
  name: `${id} stage`,
  needs,
  run: async () => result,
});
const passed = (count: number) => ({ passed: count, failed: 0, skipped: 0, output: "quiet" });
const failed = (output: string) => ({ passed: 2, failed: 1, skipped: 0, output });

async function outcomeOf(stages: Stage[], options: { ci?: boolean; only?: string[] } = {}) {
  let text = "";
  const totals = await runStages({ stages, ...options, now: () => 0, write: (piece) => (text += piece) });
  return { ...totals, text, lines: text.trimEnd().split("\n") };
}

describe("runStages", () => {
  it("prints a line a stage and last the sum", async () => {
    const { lines } = await outcomeOf([stage("a", passed(3)), stage("b", passed(1))]);
    expect(lines).toEqual([
      expect.stringMatching(/^✓ a stage +3 passed +0\.0 s$/),
      expect.stringMatching(/^✓ b stage +1 passed +0\.0 s$/),
      "4 passed, 0 failed",
    ]);
  });

  it("prints the output of a failed stage in full and goes on", async () => {
    const { lines, text, failed: count } = await outcomeOf([stage("a", failed("line 1\nline 2")), stage("b", passed(1))]);
    expect(text).toContain("\nline 1\nline 2\n");
    expect(text).not.toContain("quiet");
    expect(lines.at(-1)).toBe("3 passed, 1 failed");
    expect(count).toBe(1);
  });

  it("counts a stage whose needs failed as failed, and says so", async () => {
    const { text, lines } = await outcomeOf([stage("build", failed("broken")), stage("browser", passed(9), ["build"])]);
    expect(text).toContain("not run, because this failed: build");
    expect(lines.at(-1)).toBe("2 passed, 2 failed");
  });

  it("counts a stage that ran no test, or threw, as failed", async () => {
    const thrower: Stage = { id: "b", name: "b", run: async () => Promise.reject(new Error("no browser here")) };
    const { text, lines } = await outcomeOf([stage("a", passed(0)), thrower]);
    expect(text).toContain("no test ran");
    expect(text).toContain("no browser here");
    expect(lines.at(-1)).toBe("0 passed, 2 failed");
  });

  it("lets a stage not run outside CI, and fails it in CI", async () => {
    const stages = [stage("interop", { notRun: "there is no Python" })];
    const outside = await outcomeOf(stages);
    expect(outside.text).toContain("interop: not run, because there is no Python\n");
    expect(outside.failed).toBe(0);
    const inside = await outcomeOf(stages, { ci: true });
    expect(inside.text).toContain("interop: not run, because there is no Python");
    expect(inside.lines.at(-1)).toBe("0 passed, 1 failed");
  });

  it("shows skipped tests, and fails on them in CI", async () => {
    const stages = [stage("a", { passed: 1, failed: 0, skipped: 2, output: "" })];
    expect((await outcomeOf(stages)).text).toContain("1 passed, 2 skipped");
    expect((await outcomeOf(stages, { ci: true })).lines.at(-1)).toBe("1 passed, 2 failed");
  });
});

describe("chosenStages", () => {
  const stages = [stage("types", passed(1)), stage("build", passed(1)), stage("browser", passed(1), ["build"])];

  it("adds what a stage needs, in the usual order", () => {
    expect(chosenStages(stages, ["browser"]).map(({ id }) => id)).toEqual(["build", "browser"]);
    expect(chosenStages(stages, undefined)).toBe(stages);
  });

  it("names the stages when there is no such one", () => {
    expect(() => chosenStages(stages, ["brwoser"])).toThrow("there is no stage brwoser; the stages are types, build, browser");
  });
});
