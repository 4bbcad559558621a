import { expect, test } from "vitest";
import type { ProgressEvent } from "./context.js";
import { steadyProgress } from "./steadyProgress.js";

test("bytes never fall when work begins anew, and stay within the total", () => {
  const seen: number[] = [];
  const listen = steadyProgress(({ loadedBytes }) => seen.push(loadedBytes));
  const event = (loadedBytes: number, totalBytes = 10): ProgressEvent => ({
    phase: "arrays",
    leaf: "",
    loadedBytes,
    totalBytes,
    leaves: 0,
    totalLeaves: 1,
  });
  for (const loaded of [0, 4, 7, 0, 5, 9]) listen?.(event(loaded));
  listen?.(event(3, 8));
  expect(seen).toEqual([0, 4, 7, 7, 7, 9, 8]);
  expect(steadyProgress(undefined)).toBeUndefined();
});
