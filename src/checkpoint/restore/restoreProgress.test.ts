import { expect, it } from "vitest";
import type { ProgressEvent } from "../../tasks/context.js";
import { RestoreProgress } from "./restoreProgress.js";

it("counts a leaf's bytes up to its length, and the leaves", () => {
  const events: ProgressEvent[] = [];
  const progress = new RestoreProgress(10, 2, { onProgress: (event) => events.push(event) });
  const [a, b] = [progress.leaf("a", 6), progress.leaf("b", 4)];
  a.add(4);
  a.add(4);
  b.finish();
  a.finish();
  progress.done();
  expect(events.map(({ phase, leaf, loadedBytes, leaves }) => [phase, leaf, loadedBytes, leaves])).toEqual([
    ["index", "", 0, 0],
    ["arrays", "a", 4, 0],
    ["arrays", "a", 6, 0],
    ["arrays", "b", 10, 1],
    ["arrays", "a", 10, 2],
    ["done", "", 10, 2],
  ]);
});

it.each([
  ["an abort", (controller: AbortController) => controller.abort()],
  ["it was stopped", (_: AbortController, progress: RestoreProgress) => progress.stop()],
])("says nothing after %s", (_, end) => {
  const controller = new AbortController();
  let count = 0;
  const progress = new RestoreProgress(10, 1, { signal: controller.signal, onProgress: () => count++ });
  const leaf = progress.leaf("a", 10);
  leaf.add(5);
  expect(count).toBe(2);
  end(controller, progress);
  leaf.add(5);
  leaf.finish();
  progress.done();
  expect(count).toBe(2);
});
