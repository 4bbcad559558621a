import { expect, it } from "vitest";
import { bytesText } from "./bytesText.js";

it("writes sizes as people read them", () => {
  expect([0, 999, 1000, 255_900, 1_540_000, 10_400_000_000].map(bytesText)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 KB",
    "256 KB",
    "1.5 MB",
    "10 GB",
  ]);
});
