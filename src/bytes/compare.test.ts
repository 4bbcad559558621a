import fc from "fast-check";
import { expect, test } from "vitest";
import { commonPrefixLength, compareBytes, startsWithBytes } from "./compare.js";

const bytes = fc.uint8Array({ maxLength: 8, max: 3 });

test("compares as unsigned bytes, as Buffer.compare does", () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
    }),
  );
  expect(compareBytes(Uint8Array.of(0x7f), Uint8Array.of(0x80))).toBeLessThan(0);
  expect(compareBytes(new Uint8Array(), Uint8Array.of(0))).toBeLessThan(0);
});

test("tells what two byte strings share", () => {
  expect(commonPrefixLength(Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 4))).toBe(2);
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const shared = commonPrefixLength(a, b);
      expect(a.subarray(0, shared)).toEqual(b.subarray(0, shared));
      expect(startsWithBytes(a, b)).toBe(shared === b.length);
    }),
  );
});
