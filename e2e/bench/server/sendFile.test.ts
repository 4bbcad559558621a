import { describe, expect, it } from "vitest";
import { rangeOf } from "./sendFile.js";

describe("a range", () => {
  it.each([
    [undefined, { start: 0, end: 100, partial: false }],
    ["bytes=10-19", { start: 10, end: 20, partial: true }],
    ["bytes=90-", { start: 90, end: 100, partial: true }],
    ["bytes=90-500", { start: 90, end: 100, partial: true }],
    ["bytes=100-", { start: 0, end: 100, partial: false }],
    ["bytes=1-2,5-6", { start: 0, end: 100, partial: false }],
  ])("%s of a hundred bytes", (header, range) => {
    expect(rangeOf(header, 100)).toEqual(range);
  });
});
