import { expect, it } from "vitest";
import { foldIn, keyOf, randomBits, split, threefry2x32 } from "./threefry.js";

it("is Threefry-2x32 of its authors' own test vectors", () => {
  expect(threefry2x32([0, 0], [0, 0])).toEqual([0x6b200159, 0x99ba4efe]);
  expect(threefry2x32([0xffffffff, 0xffffffff], [0xffffffff, 0xffffffff])).toEqual([0x1cb996fc, 0xbb002be7]);
  expect(threefry2x32([0x13198a2e, 0x03707344], [0x243f6a88, 0x85a308d3])).toEqual([0xc4923a9c, 0x483df7a0]);
});

it("folds in a number as JAX did for the bundled checkpoint: fold_in(key(0), 1200)", () => {
  expect(foldIn(keyOf(0), 1200)).toEqual([0xdae0cad1, 0x7505fc7d]);
});

it("splits a key and makes bits, which other keys make otherwise", () => {
  const [rest, use] = split(keyOf(7));
  expect(rest).not.toEqual(use);
  expect(randomBits(use, 3)).toEqual(randomBits(use, 4).slice(0, 3));
  expect(randomBits(use, 3)).not.toEqual(randomBits(rest, 3));
});
