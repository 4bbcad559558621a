import fc from "fast-check";
import { expect, test } from "vitest";
import { type ByteRange, endOf } from "../../bytes/ranges.js";
import { blockLength, blocksOf, cutRange, extentName, parseExtentName } from "./extents.js";

const ranges = (longest: number): fc.Arbitrary<ByteRange> =>
  fc.record({ offset: fc.nat(longest), length: fc.integer({ min: 1, max: longest }) });

test("pieces add up to the range, and each lies in its extent or in none", () => {
  fc.assert(
    fc.property(ranges(60), fc.array(ranges(30), { maxLength: 8 }), (range, extents) => {
      const pieces = cutRange(range, extents);
      let at = range.offset;
      for (const { offset, length, extent } of pieces) {
        expect(offset).toBe(at);
        expect(length).toBeGreaterThan(0);
        at += length;
        if (extent !== undefined) {
          expect(extents).toContain(extent);
          expect(offset >= extent.offset && offset + length <= endOf(extent)).toBe(true);
        } else {
          expect(extents.some((one) => one.offset < offset + length && endOf(one) > offset)).toBe(false);
        }
      }
      expect(at).toBe(endOf(range));
      expect(
        pieces.some((piece, index) => piece.extent === undefined && pieces[index + 1]?.extent === undefined && pieces[index + 1]),
      ).toBe(false);
    }),
  );
});

test("nothing of no bytes", () => {
  expect(cutRange({ offset: 3, length: 0 }, [])).toEqual([]);
  expect(blocksOf({ offset: 3, length: 0 })).toEqual([]);
});

test("blocks end where every other cut ends them too", () => {
  expect(blocksOf({ offset: blockLength - 1, length: blockLength + 2 })).toEqual([
    { offset: blockLength - 1, length: 1 },
    { offset: blockLength, length: blockLength },
    { offset: 2 * blockLength, length: 1 },
  ]);
});

test("names say what they are given, and nothing else is taken for one", () => {
  const id = "0123456789abcdef";
  expect(parseExtentName(extentName(id, { offset: 7, length: 9 }))).toEqual({ id, offset: 7, length: 9 });
  for (const name of ["record.json", ".x.partial", `${id}.7-0`, `${id}.7`, `${id}.7-9.crswap`, `${id}.9007199254740991-1`, "0.1-2"]) {
    expect(parseExtentName(name), name).toBeUndefined();
  }
});
