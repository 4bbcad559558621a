import fc from "fast-check";
import { expect, test } from "vitest";
import { wholeElements } from "./wholeElements.js";

test("pieces come out in whole elements, with the same bytes in the same order", async () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.constantFrom(1, 2, 4, 8, 16), async (given, itemsize) => {
      const bytes = given.flatMap((piece) => [...piece]);
      const lengths: number[] = [];
      const result: number[] = [];
      for await (const piece of wholeElements(reusing(given), itemsize)) {
        lengths.push(piece.length);
        result.push(...piece);
      }
      expect(result).toEqual(bytes);
      expect(lengths).not.toContain(0);
      expect(lengths.slice(0, -1).every((length) => length % itemsize === 0)).toBe(true);
    }),
  );
});

/** Pieces that all lie in the same memory, as a storage or a decoder may give them. */
async function* reusing(pieces: readonly Uint8Array[]) {
  const memory = new Uint8Array(64);
  for (const piece of pieces) {
    memory.fill(255);
    memory.set(piece);
    yield memory.subarray(0, piece.length);
  }
}
