import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteStrings } from "./byteStrings.js";
import { compareBytes } from "./compare.js";

const strings = fc.array(fc.uint8Array({ maxLength: 4, max: 2 }), { maxLength: 8 });

test("gives the strings that it was made of", () => {
  fc.assert(
    fc.property(strings, (all) => {
      const kept = ByteStrings.of(all);
      expect(kept.length).toBe(all.length);
      expect(kept.byteLength).toBe(all.reduce((sum, { length }) => sum + length, 0));
      expect([...kept]).toEqual(all);
      expect(all.map((_, index) => kept.at(index))).toEqual(all);
    }),
  );
});

test("compares as compareBytes does, also with the rest of a string", () => {
  fc.assert(
    fc.property(strings, fc.uint8Array({ maxLength: 6, max: 2 }), fc.nat({ max: 6 }), (all, other, from) => {
      const kept = ByteStrings.of(all);
      for (const [index, string] of all.entries()) {
        expect(kept.compare(index, other, from)).toBe(compareBytes(string, other.subarray(from)));
      }
    }),
  );
});

test("is a copy, and gives nothing where there is none", () => {
  const bytes = Uint8Array.of(1, 2);
  const kept = ByteStrings.of([bytes]);
  bytes.fill(9);
  expect(kept.at(0)).toEqual(Uint8Array.of(1, 2));
  expect(kept.at(1)).toEqual(new Uint8Array());
  expect(ByteStrings.of([]).byteLength).toBe(0);
});
