import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wholeWords } from "./limits.js";
import { WordWriter } from "./wordWriter.js";

/** A buffer full of junk that takes only whole words. */
function wordBuffer(byteLength: number) {
  const bytes = new Uint8Array(wholeWords(byteLength)).fill(0xaa);
  const writer = new WordWriter(byteLength, (offset, words) => {
    expect([offset % 4, words.byteLength % 4]).toEqual([0, 0]);
    bytes.set(words, offset);
  });
  return { bytes, writer };
}

describe("WordWriter", () => {
  it("writes runs in any order, whatever their alignment, and pads with zeros", () => {
    const runs = fc.array(fc.integer({ min: 1, max: 11 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(runs, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (lengths, order) => {
        const total = lengths.reduce((sum, length) => sum + length, 0);
        const { bytes, writer } = wordBuffer(total);
        const offsetOf = (index: number) => lengths.slice(0, index).reduce((sum, length) => sum + length, 0);
        const placed = lengths.map((length, index) => ({ length, offset: offsetOf(index), key: order.next().value }));
        for (const run of placed.sort((a, b) => a.key - b.key)) {
          writer.write(
            run.offset,
            Uint8Array.from({ length: run.length }, (_, index) => run.offset + index + 1),
          );
        }
        expect(writer.waiting).toBe(0);
        const expected = Array.from({ length: wholeWords(total) }, (_, index) => (index < total ? index + 1 : 0));
        expect([...bytes]).toEqual(expected);
      }),
    );
  });

  it("keeps no view of the bytes it was given", () => {
    const { bytes, writer } = wordBuffer(4);
    const given = Uint8Array.of(1, 2);
    writer.write(0, given);
    given.fill(9);
    writer.write(2, Uint8Array.of(3, 4));
    expect([...bytes]).toEqual([1, 2, 3, 4]);
  });

  it("writes on flush what still waits", () => {
    const { bytes, writer } = wordBuffer(6);
    writer.write(1, Uint8Array.of(7));
    expect(writer.waiting).toBe(2);
    writer.flush();
    expect([...bytes]).toEqual([0, 7, 0, 0, 0, 0, 0, 0]);
    expect(writer.waiting).toBe(0);
  });
});
