import { expect, test } from "vitest";
import { SharedTask } from "./shared.js";

const pending = (signal: AbortSignal) => new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("gives all callers one result", async () => {
  let runs = 0;
  const task = new SharedTask(async () => ++runs);
  expect(await Promise.all([task.join(), task.join()])).toEqual([1, 1]);
  expect(await task.join()).toBe(1);
  expect(task.abandoned).toBe(false);
});

test("a caller that aborts leaves alone, and the last one to leave stops the work", async () => {
  const first = new AbortController();
  const second = new AbortController();
  const task = new SharedTask(pending);
  const joined = [task.join(first), task.join(second)];
  const results = Promise.allSettled(joined);
  first.abort(new Error("first"));
  await expect(joined[0]).rejects.toThrow("first");
  expect(task.abandoned).toBe(false);
  second.abort(new Error("second"));
  await results;
  expect(task.abandoned).toBe(true);
  await expect(joined[1]).rejects.toThrow("second");
});

test("a failure reaches all who wait, and nobody else", async () => {
  const task = new SharedTask(async () => {
    throw new Error("failed");
  });
  await expect(Promise.all([task.join(), task.join()])).rejects.toThrow("failed");
  const left = new SharedTask(pending);
  await expect(left.join({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  expect(left.abandoned).toBe(true);
});
