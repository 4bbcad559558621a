import { expect, test } from "vitest";
import { compareRange, parseContentRange, parseUnsatisfiedSize } from "./contentRange.js";

test("reads a part's header", () => {
  expect(parseContentRange("bytes 2-5/10")).toEqual({ first: 2, last: 5, size: 10 });
  expect(parseContentRange(" Bytes 2-5/* ")).toEqual({ first: 2, last: 5, size: undefined });
  for (const header of [null, "", "bytes 2-5", "bytes -5/10", "items 2-5/10", "bytes */10"])
    expect(parseContentRange(header)).toBeUndefined();
});

test("reads a refusal's header", () => {
  expect(parseUnsatisfiedSize("bytes */10")).toBe(10);
  for (const header of [null, "bytes 1-2/10", "bytes */*"]) expect(parseUnsatisfiedSize(header)).toBeUndefined();
});

test("tells how a part stands to what was asked", () => {
  const asked = { offset: 2, length: 4 };
  expect(compareRange("bytes 2-5/10", asked)).toBe("exact");
  expect(compareRange("bytes 2-5/*", asked)).toBe("exact");
  expect(compareRange("bytes 2-4/5", asked)).toBe("clipped");
  expect(compareRange(null, asked)).toBe("unknown");
  for (const header of ["bytes 2-4/10", "bytes 3-5/10", "bytes 0-9/10", "bytes 2-6/10"]) expect(compareRange(header, asked)).toBe("other");
});
