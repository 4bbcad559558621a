import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ZstdDamage } from "./damage.js";
import { ZstdDecoder } from "./decoder.js";
import { parseFrameHeader } from "./frameHeader.js";
import {
  blockBytes,
  bytes,
  compressedBlock,
  encoded,
  header,
  hex,
  random,
  rawBlock,
  rleBlock,
  rows,
  shortWeights,
  weights,
} from "./frames.testing.js";
import { loadZstd } from "./loadZstd.js";

const module = await loadZstd();
if (module === undefined) throw new Error("no WebAssembly");
const decoder = new ZstdDecoder(module);
const usualMemory = decoder.memoryBytes;

/** Takes all that comes of a frame that is given in pieces of these lengths, in turn. */
function streamed(frame: Uint8Array, lengths: readonly number[], begin = () => decoder.begin({ longestDecoded: 2 ** 30 })): Uint8Array {
  const parts: Uint8Array[] = [];
  begin();
  for (let at = 0, turn = 0; at < frame.length; turn++) {
    const { input } = decoder;
    const piece = frame.subarray(at, at + Math.min(input.length, lengths[turn % lengths.length] ?? 1));
    input.set(piece);
    decoder.given(piece.length);
    at += piece.length;
    for (let decoded = decoder.next(); decoded !== undefined; decoded = decoder.next()) parts.push(decoded.slice());
    expect(decoder.input.length).toBeGreaterThanOrEqual(blockBytes + 3);
  }
  return bytes(...parts);
}

const same = (received: Uint8Array, expected: Uint8Array) => expect(Buffer.compare(received, expected)).toBe(0);

const text = new TextEncoder().encode("weights");

describe.each<[string, Uint8Array, Uint8Array]>([
  ["no content", bytes(header(19), rawBlock(hex(""), true)), hex("")],
  ["no content, and that size", hex("28b52ffd 20 00 010000"), hex("")],
  ["stored bytes", bytes(header(10), rawBlock(text), rawBlock(text, true)), bytes(text, text)],
  ["a repeated byte", bytes(header(17), rleBlock(7), rleBlock(8, 5, true)), bytes(new Uint8Array(blockBytes).fill(7), hex("0808080808"))],
  ["empty blocks between others", bytes(header(17), rawBlock(hex("")), rawBlock(text), rawBlock(hex("")), rawBlock(hex(""), true)), text],
  ["literals only", bytes(header(17), compressedBlock(hex("38 77656967687473 00"), true)), text],
  ["a single segment", bytes(hex("28b52ffd 20 07"), rawBlock(text, true)), text],
])("a frame of %s", (_, frame, content) => {
  test("decodes whole", () => {
    const into = new Uint8Array(content.length + 10);
    expect(decoder.decodeFrame(frame, into)).toBe(content.length);
    same(into.subarray(0, content.length), content);
  });

  test("decodes from pieces of any size", () => {
    for (const length of [1, 2, 3, 5, 8, 1000]) {
      same(streamed(frame, [length]), content);
      expect(decoder.ended).toBe(true);
      expect(decoder.consumed).toBe(frame.length);
      decoder.finish();
    }
  });
});

describe.each([1, 3, 9])("what libzstd writes at level %i", (level) => {
  test.each([
    ["weights", weights(3_000_000)],
    ["short weights, whose blocks repeat tables", shortWeights(3_000_000)],
    ["text that refers far back", rows(6_000_000)],
    ["zeros", new Uint8Array(5_000_000)],
    ["little", rows(1000)],
  ])("decodes: %s", async (_, content) => {
    const frame = await encoded(content, level);
    same(streamed(frame, [2 ** 20]), content);
    same(streamed(frame, [999, 70_001, 3]), content);
    const into = new Uint8Array(content.length);
    expect(decoder.decodeFrame(frame, into)).toBe(content.length);
    same(into, content);
  });
});

test("decodes any bytes in pieces of any size", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 400_000 }),
      fc.integer(),
      fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 4 }),
      async (length, seed, lengths) => {
        const content = bytes(rows(Math.floor(length / 2), seed), weights(4 * Math.floor(length / 8), seed));
        same(streamed(await encoded(content, 3), lengths), content);
      },
    ),
    { numRuns: 25 },
  );
});

test("has room for a block beside one that lacks a byte", () => {
  const content = weights(blockBytes);
  const frame = bytes(header(17), rawBlock(content, true));
  decoder.begin({ longestDecoded: blockBytes });
  decoder.input.set(frame.subarray(0, -1));
  decoder.given(frame.length - 1);
  expect(decoder.next()).toBeUndefined();
  expect(decoder.input.length).toBeGreaterThanOrEqual(blockBytes + 3);
  decoder.input.set(frame.subarray(-1));
  decoder.given(1);
  same(decoder.next() ?? hex(""), content);
});

describe("two blocks of literals only", () => {
  test.each([
    ["each with its table", weights(20 * blockBytes)],
    ["with tables of others", shortWeights(20 * blockBytes)],
  ])("are decoded at once, %s", async (_, content) => {
    const frame = await encoded(content);
    const lengths: number[] = [];
    decoder.begin({ longestDecoded: content.length });
    for (let at = 0; at < frame.length; ) {
      const { input } = decoder;
      const piece = frame.subarray(at, at + input.length);
      input.set(piece);
      decoder.given(piece.length);
      at += piece.length;
      for (let decoded = decoder.next(); decoded !== undefined; decoded = decoder.next()) lengths.push(decoded.length);
    }
    decoder.finish();
    expect(lengths.filter((length) => length === 2 * blockBytes).length).toBeGreaterThanOrEqual(7); // the ring's end and the last block part some
  });

  test("are damage where a stream of either ends too early or too late", async () => {
    const content = weights(3 * blockBytes);
    const frame = await encoded(content);
    const ends = (at: number, change: number) => {
      const changed = frame.slice();
      changed[at] = (changed[at] ?? 0) + change;
      return () => decoder.decodeFrame(changed, new Uint8Array(content.length));
    };
    const first = parseFrameHeader(frame)?.byteLength ?? 0;
    for (let block = 0, at = first; block < 2; block++) {
      const size = ((frame[at] ?? 0) | ((frame[at + 1] ?? 0) << 8) | ((frame[at + 2] ?? 0) << 16)) >> 3;
      const table = at + 3 + 5;
      const tableLength = (frame[table] ?? 0) < 128 ? (frame[table] ?? 0) + 1 : Math.ceil(((frame[table] ?? 0) - 127) / 2) + 1;
      for (const stream of [0, 2, 4]) {
        expect(ends(table + tableLength + stream, 1)).toThrow(ZstdDamage);
        expect(ends(table + tableLength + stream, -1)).toThrow(ZstdDamage);
      }
      at += 3 + size;
    }
  });
});

test("gives several small blocks at once, and no piece above 192 KiB", () => {
  const next = random(3);
  const blocks = Array.from({ length: 3000 }, () => rleBlock(1, 1 + Math.floor(next() * (next() < 0.01 ? blockBytes : 500))));
  const lengths: number[] = [];
  decoder.begin({ longestDecoded: 2 ** 30 });
  const frame = bytes(header(19), ...blocks, rawBlock(hex(""), true));
  decoder.input.set(frame);
  decoder.given(frame.length);
  for (let piece = decoder.next(); piece !== undefined; piece = decoder.next()) lengths.push(piece.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(192 * 1024);
  expect(lengths.length).toBeLessThan(100);
});

describe("memory", () => {
  test("stays the same for frames of any length, whatever window they declare for little", async () => {
    const content = weights(6_000_000);
    const into = new Uint8Array(content.length);
    const small = new ZstdDecoder(module);
    small.decodeFrame(await encoded(content), into);
    same(into, content);
    expect(small.decodeFrame(bytes(header(27), rawBlock(text, true)), new Uint8Array(1000))).toBe(7);
    expect(() => small.decodeFrame(hex("28b52ffd a0 00000007 010000"), new Uint8Array(1000))).toThrow(ZstdDamage);
    small.beginBlocks(17, { longestDecoded: 1000, encodedLength: 1000 });
    expect(small.memoryBytes).toBe(usualMemory);
    expect(usualMemory).toBeLessThan(2 * 1024 * 1024);
  });

  test("grows by a window that is needed, and tells", async () => {
    const large = new ZstdDecoder(module);
    large.begin({ longestDecoded: 2 ** 30 });
    large.input.set(header(24));
    large.given(6);
    expect(large.next()).toBeUndefined();
    expect(large.memoryBytes).toBeGreaterThan(2 ** 24);
    expect(large.memoryBytes).toBeLessThan(2 ** 24 + 2 ** 21);
    const content = rows(5_000_000);
    const into = new Uint8Array(content.length);
    large.decodeFrame(await encoded(content, 8), into);
    same(into, content);
  });
});

describe("refuses", () => {
  const damage = (expected: string, message: string) => expect.objectContaining({ name: "ZstdDamage", expected, message });
  const decode = (frame: Uint8Array, longest = 1000) => decoder.decodeFrame(frame, new Uint8Array(longest));

  test.each([
    ["another magic", hex("00b52ffd 20 00 010000")],
    ["a skippable frame", hex("502a4d18 04000000 00000000")],
    ["a dictionary", hex("28b52ffd 21 07 07 390000 77656967687473")],
    ["a window above 128 MiB", bytes(header(28), rawBlock(text, true))],
  ])("%s", (_, frame) => {
    expect(() => decode(frame)).toThrow(ZstdDamage);
    expect(decode(bytes(header(10), rawBlock(text, true)))).toBe(7);
  });

  test("a frame that is cut short anywhere", async () => {
    const frame = await encoded(rows(2000), 3);
    for (let length = 0; length < frame.length; length++) {
      expect(() => decode(frame.subarray(0, length), 2000)).toThrow(damage("the rest of a zstd frame", "the end of the data"));
    }
  });

  test("bytes behind the frame", () => {
    const frame = bytes(header(10), rawBlock(text, true));
    expect(() => decode(bytes(frame, hex("00")))).toThrow(damage("the end of the zstd frame", "1 more bytes"));
    expect(() => decode(bytes(frame, frame))).toThrow(damage("the end of the zstd frame", "16 more bytes"));
    expect(() => decode(bytes(frame, new Uint8Array(2 ** 20)))).toThrow(ZstdDamage);
  });

  test("more than it may decode to, at once", () => {
    const bomb = bytes(header(27), ...Array.from({ length: 10_000 }, () => rleBlock(0)), rleBlock(0, 1, true));
    expect(() => decode(bomb, 1_000_000)).toThrow(damage("at most 1000000 bytes after decoding zstd", `${8 * blockBytes} or more`));
    expect(decoder.consumed).toBe(6 + 8 * 4);
    expect(() => decode(hex("28b52ffd a0 00000007 010000"))).toThrow(damage("at most 1000 bytes after decoding zstd", `${7 * 2 ** 24}`));
  });

  test("another length than the header declares, or than was asked for", () => {
    for (const declared of ["06", "08"]) {
      expect(() => decode(bytes(hex(`28b52ffd 20 ${declared}`), rawBlock(text, true)))).toThrow(ZstdDamage);
    }
    const begin = (decodedLength: number) => () => decoder.begin({ longestDecoded: 100, decodedLength });
    const frames = [bytes(header(10), rawBlock(text, true)), bytes(hex("28b52ffd 20 07"), rawBlock(text, true))];
    for (const frame of frames) {
      same(streamed(frame, [100], begin(7)), text);
      for (const length of [6, 8]) expect(() => streamed(frame, [100], begin(length))).toThrow(`7`);
    }
    expect(() => decode(bytes(hex("28b52ffd 60 0000"), rawBlock(hex(""), true)))).toThrow("0");
  });

  test("a wrong checksum, and takes the right one", () => {
    const frame = bytes(hex("28b52ffd 24 07"), rawBlock(text, true));
    for (let first = 0; first < 256; first++) {
      const sum = Uint8Array.of(first, ...checksumOfText.subarray(1));
      if (first === checksumOfText[0]) expect(decode(bytes(frame, sum))).toBe(7);
      else expect(() => decode(bytes(frame, sum))).toThrow(damage("a zstd frame", "content of another checksum"));
    }
  });

  test("more input than there is room for", () => {
    decoder.begin({ longestDecoded: 10 });
    for (const count of [decoder.input.length + 1, -1, Number.NaN]) expect(() => decoder.given(count)).toThrow(RangeError);
  });
});

/** XXH64 of "weights", its lower half. */
const checksumOfText = hex("9891e520");

describe("blocks of a frame", () => {
  test("decode from where nothing before is needed, and say how much they took", async () => {
    const content = weights(8 * blockBytes);
    const frame = await encoded(content);
    const streamedBlocks = (part: Uint8Array, lengths: readonly number[]) =>
      streamed(part, lengths, () => decoder.beginBlocks(17, { longestDecoded: content.length, encodedLength: part.length }));
    const blocks = frame.subarray(10);
    expect(streamedBlocks(blocks, [5000])).toHaveLength(content.length);
    expect([decoder.ended, decoder.consumed]).toEqual([true, blocks.length]);
    const second = 3 + (((blocks[0] ?? 0) | ((blocks[1] ?? 0) << 8) | ((blocks[2] ?? 0) << 16)) >> 3);
    same(streamedBlocks(blocks.subarray(second), [2 ** 20]), content.subarray(blockBytes));
    same(streamedBlocks(blocks.subarray(0, second), [2 ** 20]), content.subarray(0, blockBytes));
    expect([decoder.ended, decoder.consumed]).toEqual([false, second]);
    expect(() => decoder.finish()).toThrow(ZstdDamage);
  });

  test("stop at a limit", () => {
    decoder.beginBlocks(17, { longestDecoded: 10, encodedLength: 4 });
    decoder.input.set(rleBlock(1));
    decoder.given(4);
    expect(() => decoder.next()).toThrow("131072 or more");
  });
});
