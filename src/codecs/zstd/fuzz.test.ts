import fc from "fast-check";
import { expect, test } from "vitest";
import { ZstdDamage } from "./damage.js";
import { ZstdDecoder } from "./decoder.js";
import { bytes, encoded, header, rawBlock, rleBlock, rows, shortWeights, weights } from "./frames.testing.js";
import { loadZstd } from "./loadZstd.js";
import { splitFrame } from "./splitFrame.js";

const module = await loadZstd();
if (module === undefined) throw new Error("no WebAssembly");
const decoder = new ZstdDecoder(module);
const usualMemory = decoder.memoryBytes;

const samples = await Promise.all(
  [rows(3000), rows(400_000), weights(400_000), shortWeights(400_000), new Uint8Array(500_000)].flatMap((content) =>
    [1, 3, 19].map(async (level) => ({ content, frame: await encoded(content, level) })),
  ),
);
const good = bytes(header(10), rawBlock(Uint8Array.of(1, 2, 3)), rleBlock(4, 2, true));

/** What a frame decodes to, within 1 MiB; undefined where it is damaged. */
function outcome(frame: Uint8Array): Uint8Array | undefined {
  const into = new Uint8Array(1024 * 1024);
  try {
    return into.subarray(0, decoder.decodeFrame(frame, into));
  } catch (error) {
    expect(error).toBeInstanceOf(ZstdDamage);
    return undefined;
  }
}

/** Bytes that are changed, by place (as a part of the frame) and the bits that flip; and how much of the frame there is. */
const damage = fc.record({
  sample: fc.nat(samples.length - 1),
  flips: fc.array(
    fc.record({ place: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), bits: fc.integer({ min: 1, max: 255 }) }),
    {
      maxLength: 8,
    },
  ),
  early: fc.boolean(),
  kept: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
});

test("damaged frames are ZstdDamage or decode to something, and the next frame decodes", () => {
  let damaged = 0;
  fc.assert(
    fc.property(damage, ({ sample, flips, early, kept }) => {
      const { frame } = samples[sample] ?? { frame: good };
      const changed = frame.slice(0, Math.ceil(frame.length * kept));
      for (const { place, bits } of flips) {
        const at = Math.floor((early ? Math.min(40, changed.length) : changed.length) * place);
        changed[at] = (changed[at] ?? 0) ^ bits;
      }
      if (outcome(changed) === undefined) damaged++;
      expect(decoder.memoryBytes).toBe(usualMemory);
      expect(outcome(good)).toEqual(Uint8Array.of(1, 2, 3, 4, 4));
    }),
    { numRuns: 600 },
  );
  expect(damaged).toBeGreaterThan(200);
});

test("bytes that were never a frame are ZstdDamage or decode to something", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 10, max: 27 }), (blocks, windowLog) => {
      outcome(blocks);
      outcome(bytes(header(windowLog), blocks));
      expect(decoder.memoryBytes).toBe(usualMemory);
    }),
    { numRuns: 500 },
  );
});

test("damaged frames are split into parts that fit into them, or not at all", () => {
  fc.assert(
    fc.property(damage, fc.integer({ min: 1, max: 100_000 }), ({ sample, flips, kept }, partLength) => {
      const { frame, content } = samples[sample] ?? { frame: good, content: good };
      const changed = frame.slice(0, Math.ceil(frame.length * kept));
      for (const { place, bits } of flips) {
        const at = Math.floor(changed.length * place);
        changed[at] = (changed[at] ?? 0) ^ bits;
      }
      const read = (offset: number, into: Uint8Array) => {
        const found = changed.subarray(offset, offset + into.length);
        into.set(found);
        return found.length;
      };
      const split = splitFrame(read, { offset: 0, length: changed.length }, content.length, partLength);
      if (split === undefined) return;
      expect(split.parts.reduce((sum, { decodedLength }) => sum + decodedLength, 0)).toBe(content.length);
      const last = split.parts.at(-1);
      expect((last?.offset ?? 0) + (last?.length ?? 0)).toBe(changed.length);
    }),
    { numRuns: 300 },
  );
});

test("some flipped bits of noise are noticed, which the fast Huffman loop never does", () => {
  const { frame } = samples.find(({ content }) => content.length === 400_000) ?? { frame: good };
  let noticed = 0;
  for (let round = 0; round < 200; round++) {
    const changed = frame.slice();
    const at = 5000 + round * 700;
    changed[at] = (changed[at] ?? 0) ^ (1 << (round & 7));
    if (outcome(changed) === undefined) noticed++;
  }
  expect(noticed).toBeGreaterThan(10);
});
