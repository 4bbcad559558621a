import { expect, test } from "vitest";
import { none } from "./none.js";

test("gives the value itself, not a copy", async () => {
  const bytes = Uint8Array.of(1, 2, 3);
  expect(await none.decode(bytes, { decodedLength: 3, longestDecoded: 3, path: "d/0" })).toBe(bytes);
});
