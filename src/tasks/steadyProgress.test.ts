import { expect, test } from "vitest";
import type { ProgressEvent } from "./context.js";
import { withSteadyProgress } from "./steadyProgress.js";

const event = (loadedBytes: number, totalBytes = 10, phase: ProgressEvent["phase"] = "arrays"): ProgressEvent => ({
  phase,
  leaf: "",
  loadedBytes,
  totalBytes,
  leaves: 0,
  totalLeaves: 1,
});

const never = () => expect.unreachable();

test("bytes never fall when work begins anew, and stay within the total", async () => {
  const seen: number[] = [];
  const work = async ({ onProgress }: { onProgress: (event: ProgressEvent) => void }) => {
    for (const loaded of [0, 4, 7, 0, 5, 9]) onProgress(event(loaded));
    onProgress(event(3, 8));
    return "value";
  };
  expect(await withSteadyProgress(work, { onProgress: ({ loadedBytes }) => seen.push(loadedBytes) }, never)).toBe("value");
  expect(seen).toEqual([0, 4, 7, 7, 7, 9, 8]);
});

test("that it is done is told once, after the work has ended", async () => {
  const seen: string[] = [];
  const work = async ({ onProgress }: { onProgress: (event: ProgressEvent) => void }) => {
    for (const phase of ["index", "done", "index", "arrays", "done"] as const) onProgress(event(10, 10, phase));
    seen.push("checked");
  };
  await withSteadyProgress(work, { onProgress: ({ phase }) => seen.push(phase) }, never);
  expect(seen).toEqual(["index", "index", "arrays", "checked", "done"]);
});

test("of work that fails it is not told that it is done", async () => {
  const seen: string[] = [];
  const work = async ({ onProgress }: { onProgress: (event: ProgressEvent) => void }) => {
    onProgress(event(10, 10, "done"));
    throw new Error("changed");
  };
  await expect(withSteadyProgress(work, { onProgress: ({ phase }) => seen.push(phase) }, never)).rejects.toThrow("changed");
  expect(seen).toEqual([]);
});

test("what was made is taken back where the listener throws or aborts at the last event", async () => {
  const controller = new AbortController();
  const stopped = new Error("stopped");
  const thrower = () => {
    throw stopped;
  };
  for (const onProgress of [thrower, () => controller.abort(stopped)]) {
    const undone: string[] = [];
    const work = async (options: { onProgress: (event: ProgressEvent) => void }) => {
      options.onProgress(event(10, 10, "done"));
      return "value";
    };
    const failing = withSteadyProgress(work, { onProgress, signal: controller.signal }, (value) => undone.push(value));
    await expect(failing).rejects.toBe(stopped);
    expect(undone).toEqual(["value"]);
  }
});

test("without a listener the work gets its options as they are", async () => {
  const options = { signal: new AbortController().signal };
  expect(await withSteadyProgress(async (given) => given, options, never)).toBe(options);
});
