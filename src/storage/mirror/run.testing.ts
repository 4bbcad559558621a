import { expect } from "vitest";
import { bytesOf } from "../conformanceFiles.testing.js";
import type { Files } from "./fakeSource.testing.js";

/** Length of the run's longest file, in bytes: two blocks and a part of a third. */
export const big = 10_000_000;

/** The run's longest file. */
export const dataFile = "100/d/0123456789abcdef0123456789abcdef";

/** Files as a checkpoint has them. */
export const filesOfRun = (): Files =>
  new Map([
    ["100/_METADATA", bytesOf(700)],
    ["100/manifest.ocdbt", bytesOf(400)],
    ["100/d/0123456789abcdef0123456789abcdef", bytesOf(big)],
    ["100/empty", new Uint8Array()],
  ]);

/** Quick also for long ones, which the runner compares by the element. */
export function expectBytes(received: Uint8Array | undefined, expected: Uint8Array | undefined, what = ""): void {
  expect(received?.length, what).toBe(expected?.length);
  expect(Buffer.compare(received ?? new Uint8Array(), expected ?? new Uint8Array()), what).toBe(0);
}
