import { expect, test } from "vitest";
import { loadLibzstd } from "./libzstd.js";
import { streamByLibzstd } from "./streamByLibzstd.js";
import { ZstdDamage } from "./zstdStream.js";

const libzstd = await loadLibzstd();
if (libzstd?.functions === undefined) throw new Error("zstddec did not start");
const { functions } = libzstd;

const header = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38);

/** An RLE block of 128 KiB of one value. */
const block = (value: number, last = false) => Uint8Array.of(last ? 3 : 2, 0, 0x10, value);

async function* frame(values: readonly number[], ended = true): AsyncGenerator<Uint8Array> {
  yield header;
  for (const [index, value] of values.entries()) yield block(value, ended && index === values.length - 1);
}

const values = Array.from({ length: 21 }, (_, index) => index + 1);

test("gives pieces of 512 KiB in one piece of memory, the last one shorter", async () => {
  const lengths: number[] = [];
  const memories = new Set<ArrayBufferLike>();
  const seen: number[] = [];
  for await (const piece of streamByLibzstd(functions, frame(values))) {
    lengths.push(piece.length);
    memories.add(piece.buffer);
    for (let at = 0; at < piece.length; at += 131_072) seen.push(piece[at] ?? 0);
  }
  expect(lengths).toEqual([...Array.from({ length: 5 }, () => 512 * 1024), 131_072]);
  expect(memories.size).toBe(1);
  expect([...memories][0]).not.toBe(functions.memory.buffer);
  expect(seen).toEqual(values);
});

test("uses the memory of ended streams again", async () => {
  const memories = new Set<ArrayBufferLike>();
  for (let count = 0; count < 5; count++) {
    for await (const piece of streamByLibzstd(functions, frame([count]))) {
      expect(piece).toEqual(new Uint8Array(131_072).fill(count));
      memories.add(piece.buffer);
    }
  }
  expect(memories.size).toBe(1);
});

test("several frames at once do not disturb each other", async () => {
  const first = streamByLibzstd(functions, frame([1, 2, 3, 4, 5]));
  const second = streamByLibzstd(functions, frame([6, 7, 8, 9, 10]));
  const starts: (number | undefined)[] = [];
  for (let piece = 0; piece < 2; piece++) {
    for (const frame of [first, second]) starts.push(((await frame.next()).value as Uint8Array)[0]);
  }
  expect(starts).toEqual([1, 6, 5, 10]);
});

const drain = async (parts: AsyncIterable<Uint8Array>) => {
  for await (const _piece of streamByLibzstd(functions, parts));
};

async function* damaged(): AsyncGenerator<Uint8Array> {
  yield header;
  yield Uint8Array.of(0x0d, 0, 0, 0xff); // a compressed block of one byte
}

test("an incomplete and a damaged frame are ZstdDamage", async () => {
  await expect(drain(frame([1, 2], false))).rejects.toThrow(ZstdDamage);
  await expect(drain(damaged())).rejects.toThrow(ZstdDamage);
});

test("gives its memory back, also where a frame is damaged or left", async () => {
  const round = async () => {
    for await (const _piece of streamByLibzstd(functions, frame(values))) break;
    await drain(frame([1], false)).catch(() => undefined);
    await drain(damaged()).catch(() => undefined);
  };
  await round();
  const before = functions.memory.buffer.byteLength;
  for (let count = 0; count < 100; count++) await round();
  expect(functions.memory.buffer.byteLength).toBe(before);
});

test("without memory it says so, and does not blame the frame", async () => {
  const starved = { ...functions, malloc: () => 0 };
  await expect(streamByLibzstd(starved, frame(values)).next()).rejects.toThrow(/no memory left/);
});
