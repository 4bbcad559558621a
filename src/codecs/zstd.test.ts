import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Codec, DecodeRequest } from "./codec.js";
import { encodeFrame } from "./zstd/encodeFrame.js";
import { zstd as zstdOfPage } from "./zstd.js";

const text = new TextEncoder().encode(Array.from({ length: 60 }, (_, i) => `row ${i * i} of the weights; `).join(""));

// What `zstd -19` made of the text, with and without content size and checksum.
const block =
  "GROwGTpA4TVZTKJEiCRJJplmXeJgJPtSrlCmk7Nq5AH2bTh7UivZ6XqpMvkA+nZ2bNelypIcO/Jb0WSqAg6Y/oDqmOjNvCtFn2lfdZvdSPLLl+lZ5ggkFAWCQbAYgoJiDA5jY3FABDyoEUBs/PpvsOOkAxEgBL9CIHY/rZYYcrk4d8ByOJX4Xb5t+oVp5FcMxeupzTXJZgUg1QBNjVUCrQo=";
const frames = {
  "size, checksum": frame("28b52ffd64ae041d0500b28a", "f753252c"),
  "no size, checksum": frame("28b52ffd04681d0500b28a", "f753252c"),
  "size, no checksum": frame("28b52ffd60ae041d0500b28a", ""),
  "no size, no checksum": frame("28b52ffd00681d0500b28a", ""),
};

function frame(head: string, tail: string): Uint8Array {
  return Uint8Array.from(Buffer.concat([Buffer.from(head, "hex"), Buffer.from(block, "base64"), Buffer.from(tail, "hex")]));
}

// Its name: the modules are loaded anew for each test, and their classes with them.
const corrupt = { name: "CorruptCheckpointError", path: "d/file" };

const request = (decodedLength: number | undefined, longestDecoded = 1024 * 1024): DecodeRequest => ({
  decodedLength,
  longestDecoded,
  path: "d/file",
});

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.slice(start, start + size);
}

async function streamed(zstd: Codec, bytes: Uint8Array, size: number, asked: DecodeRequest): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of zstd.stream(pieces(bytes, size), asked)) parts.push(part.slice());
  return Uint8Array.from(Buffer.concat(parts));
}

/** `blocks` RLE blocks of 128 KiB: four bytes each. */
function bomb(blocks: number): Uint8Array {
  const rle = Buffer.from(`${"02001000".repeat(blocks - 1)}03001000`, "hex");
  return Uint8Array.from(Buffer.concat([Buffer.from("28b52ffd0038", "hex"), rle]));
}

describe.each(["libzstd", "fzstd, where a page forbids WebAssembly"])("%s", (decoder) => {
  let zstd: Codec;

  beforeEach(async () => {
    zstd = zstdOfPage;
    if (decoder === "libzstd") return;
    vi.resetModules();
    vi.doMock("./zstd/loadZstd.js", () => ({ loadZstd: async () => undefined }));
    ({ zstd } = await import("./zstd.js"));
  });

  afterEach(() => {
    vi.doUnmock("./zstd/loadZstd.js");
  });

  test.each(Object.entries(frames))("decodes a frame with %s", async (_, bytes) => {
    for (const length of [text.length, undefined]) {
      expect(await zstd.decode(bytes, request(length))).toEqual(text);
      for (const size of [1, 10, 1000]) expect(await streamed(zstd, bytes, size, request(length))).toEqual(text);
    }
  });

  test("decodes the frames of values of a few bytes, such as an optimizer's count", async () => {
    for (let length = 1; length < 40; length++) {
      const value = text.slice(0, length);
      const small = await encodeFrame(value);
      expect(await zstd.decode(small, request(length))).toEqual(value);
      for (const size of [1, 10, 1000]) expect(await streamed(zstd, small, size, request(undefined))).toEqual(value);
    }
  });

  test("refuses a declared size other than the one asked for, before decoding", async () => {
    await expect(zstd.decode(frames["size, no checksum"], request(text.length + 1))).rejects.toThrow(
      /1455 bytes after decoding zstd, received 1454/,
    );
    await expect(streamed(zstd, frames["size, no checksum"], 9, request(text.length + 1))).rejects.toMatchObject(corrupt);
  });

  test("refuses frames that a bomb is made of, as soon as the headers tell", async () => {
    await expect(zstd.decode(bomb(100_000), request(undefined))).rejects.toMatchObject(corrupt);
    await expect(streamed(zstd, bomb(100_000), 1000, request(undefined))).rejects.toMatchObject(corrupt);
    await expect(zstd.decode(bomb(100_000), request(5))).rejects.toThrow(/5 bytes/);
  });

  test("gives small pieces, however much one piece grows", async () => {
    let length = 0;
    let longest = 0;
    for await (const part of zstd.stream(pieces(bomb(300), 10_000), request(300 * 131_072, 2 ** 31))) {
      length += part.length;
      longest = Math.max(longest, part.length);
    }
    expect(length).toBe(300 * 131_072);
    expect(longest).toBeLessThanOrEqual(512 * 1024);
  });

  test("decodes values too large for one go, block by block", async () => {
    const value = await zstd.decode(bomb(140), request(undefined, 2 ** 30));
    expect(value.length).toBe(140 * 131_072);
    expect(await zstd.decode(bomb(140), request(140 * 131_072, 2 ** 30))).toHaveLength(140 * 131_072);
  });

  test("keeps decoding after many damaged and abandoned frames", async () => {
    const damaged = frames["no size, no checksum"].slice();
    damaged[20] = (damaged[20] ?? 0) ^ 0xff;
    for (let round = 0; round < 100; round++) {
      await streamed(zstd, damaged, 50, request(text.length)).catch(() => undefined);
      for await (const _part of zstd.stream(pieces(bomb(20), 100), request(20 * 131_072, 2 ** 30))) break;
    }
    expect(await streamed(zstd, frames["no size, checksum"], 50, request(text.length))).toEqual(text);
  });
});

test.each(["size, checksum", "no size, checksum"] as const)("libzstd verifies the checksum of a frame with %s", async (name) => {
  const damaged = frames[name].slice();
  damaged[damaged.length - 1] = 0;
  await expect(zstdOfPage.decode(damaged, request(text.length))).rejects.toMatchObject(corrupt);
  await expect(streamed(zstdOfPage, damaged, 20, request(text.length))).rejects.toMatchObject(corrupt);
});
