import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ZstdDecoder } from "./decoder.js";
import { blockBytes, bytes, encoded, header, hex, random, rawBlock, rleBlock, rows, shortWeights, weights } from "./frames.testing.js";
import { loadZstd } from "./loadZstd.js";
import { splitFrame, type ZstdSplit } from "./splitFrame.js";

const module = await loadZstd();
if (module === undefined) throw new Error("no WebAssembly");
const decoder = new ZstdDecoder(module);

/** Splits a frame that stands in a file behind other bytes, and counts what is read. */
function split(frame: Uint8Array, decodedLength: number, partLength?: number) {
  const before = 1000;
  const file = bytes(new Uint8Array(before), frame, new Uint8Array(100).fill(0xff));
  const reads: number[] = [];
  const read = (offset: number, into: Uint8Array) => {
    const found = file.subarray(offset, offset + into.length);
    into.set(found);
    reads.push(into.length);
    return found.length;
  };
  return { split: splitFrame(read, { offset: before, length: frame.length }, decodedLength, partLength), reads, file };
}

/** Decodes each part by itself, in the order given. */
function decoded({ windowLog, parts }: ZstdSplit, file: Uint8Array, order = parts.map((_, index) => index)): Uint8Array {
  const results: Uint8Array[] = [];
  for (const index of order) {
    const part = parts[index];
    if (part === undefined) throw new Error("no such part");
    decoder.beginBlocks(windowLog, { longestDecoded: part.decodedLength, encodedLength: part.length });
    results[index] = decodeBlocks(file.subarray(part.offset, part.offset + part.length));
    expect(decoder.consumed).toBe(part.length);
    expect(results[index]?.length).toBe(part.decodedLength);
    expect(decoder.ended).toBe(index === parts.length - 1);
  }
  return bytes(...results);
}

function decodeBlocks(blocks: Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let rest = blocks; rest.length > 0; ) {
    const { input } = decoder;
    const given = rest.subarray(0, input.length);
    input.set(given);
    decoder.given(given.length);
    rest = rest.subarray(given.length);
    for (let piece = decoder.next(); piece !== undefined; piece = decoder.next()) pieces.push(piece.slice());
  }
  return bytes(...pieces);
}

const partLength = 300_000;

test.each([
  ["float32", weights(6_000_000)],
  ["bfloat16, of which many blocks use the table before", shortWeights(6_000_000)],
])("splits weights: %s", async (_, content) => {
  const frame = await encoded(content);
  const { split: found, reads, file } = split(frame, content.length, partLength);
  if (found === undefined) throw new Error("was not split");
  const { parts } = found;
  expect(found.windowLog).toBe(17);
  expect(parts.length).toBeGreaterThanOrEqual(frame.length / partLength / 3);
  for (const part of parts.slice(0, -1)) expect(part.length).toBeGreaterThanOrEqual(partLength);
  for (const [index, part] of parts.slice(1).entries()) expect(part.offset).toBe((parts[index]?.offset ?? 0) + (parts[index]?.length ?? 0));
  const backwards = parts.map((_part, index) => parts.length - 1 - index);
  expect(Buffer.compare(decoded(found, file, backwards), content)).toBe(0);
  expect(reads).toEqual([18, ...Array.from({ length: Math.ceil(content.length / blockBytes) }, () => 8)]);
});

test("parts joined are the whole, wherever it is cut", async () => {
  const frames = await Promise.all(
    [weights(2_000_000), shortWeights(2_000_000)].map(async (content) => ({ content, frame: await encoded(content) })),
  );
  const choice = fc.record({ which: fc.nat(1), partLength: fc.integer({ min: 1, max: 900_000 }) });
  fc.assert(
    fc.property(choice, ({ which, partLength }) => {
      const { content, frame } = frames[which] ?? { content: hex(""), frame: hex("") };
      const { split: found, file } = split(frame, content.length, partLength);
      if (found === undefined) throw new Error("was not split");
      expect(Buffer.compare(decoded(found, file), content)).toBe(0);
    }),
    { numRuns: 40 },
  );
});

describe("stored and repeated blocks", () => {
  const noise = (seed: number) => {
    const next = random(seed);
    return Uint8Array.from({ length: blockBytes }, () => next() * 256);
  };
  const huffmanBlock = async (seed: number) => (await encoded(shortWeights(blockBytes, seed))).subarray(9);

  test("may stand where a part starts, if the next table is a block's own", async () => {
    const frame = bytes(header(19), await huffmanBlock(1), rawBlock(noise(1)), rleBlock(3), await huffmanBlock(2));
    frame[6] = (frame[6] ?? 0) & 0xfe;
    const { split: found, file } = split(frame, 4 * blockBytes, 1);
    expect(found?.parts.map((part) => part.decodedLength)).toEqual([blockBytes, 3 * blockBytes]);
    if (found !== undefined) expect(decoded(found, file).subarray(blockBytes, 2 * blockBytes)).toEqual(noise(1));
  });
});

describe("does not split", () => {
  test("what has matches, is short, or is no frame of the length", async () => {
    const text = rows(2_000_000);
    expect(split(await encoded(text), text.length, 1000).split).toBeUndefined();
    const content = weights(2_000_000);
    const frame = await encoded(content);
    expect(split(frame, content.length).split).toBeUndefined();
    expect(split(frame, content.length - 1, partLength).split).toBeUndefined();
    expect(split(frame.subarray(0, -1), content.length, partLength).split).toBeUndefined();
    expect(split(bytes(frame, hex("00")), content.length, partLength).split).toBeUndefined();
    expect(split(frame.subarray(1), content.length, partLength).split).toBeUndefined();
    expect(split(hex("28b52f"), content.length, partLength).split).toBeUndefined();
    expect(split(frame.subarray(0, 20), content.length, partLength).split).toBeUndefined();
  });

  test("a frame with a checksum, which covers all of it", async () => {
    const frame = await encoded(weights(2_000_000));
    const summed = bytes(frame, new Uint8Array(4));
    summed[4] = (summed[4] ?? 0) | 4;
    expect(split(summed, 2_000_000, partLength).split).toBeUndefined();
  });

  test("at the price of a read for each of endless little blocks", () => {
    const tiny = bytes(...Array.from({ length: 30_000 }, () => rleBlock(1, 1)));
    const { split: found, reads } = split(bytes(header(17), tiny, rleBlock(1, 1, true)), 30_001, 1000);
    expect(found).toBeUndefined();
    expect(reads.length).toBeLessThan(100);
  });

  test("where one block has matches", async () => {
    const content = bytes(weights(1_000_000, 1), rows(200_000), weights(1_000_000, 2));
    expect(split(await encoded(content), content.length, partLength).split).toBeUndefined();
  });
});
