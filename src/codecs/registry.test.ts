import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import Blosc from "numcodecs/blosc";
import Zstd from "numcodecs/zstd";
import { describe, expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import type { DecodeRequest } from "./codec.js";
import { codecNamed } from "./registry.js";

const encoders: Record<string, (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>> = {
  zstd: (bytes) => Zstd.fromConfig({ id: "zstd", level: 3 }).encode(bytes),
  gzip: (bytes) => gzipSync(bytes),
  zlib: (bytes) => deflateSync(bytes),
  blosc: (bytes) => Blosc.fromConfig({ id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 }).encode(bytes),
  none: (bytes) => bytes.slice(),
};

const codec = (name: string) => {
  const found = codecNamed(name);
  if (found === undefined) throw new Error(`no codec ${name}`);
  return found;
};

const request = (decodedLength: number | undefined, longestDecoded = 64 * 1024 * 1024): DecodeRequest => ({
  decodedLength,
  longestDecoded,
  path: "d/file",
  offset: 100,
});

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  // One buffer for all pieces, overwritten at once: a codec must have taken a piece when it asks for the next.
  const buffer = new Uint8Array(size);
  for (let start = 0; start < bytes.length; start += size) {
    const piece = bytes.subarray(start, start + size);
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
    buffer.fill(0xaa);
  }
}

async function streamed(name: string, bytes: Uint8Array, size: number, asked: DecodeRequest, signal?: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of codec(name).stream(pieces(bytes, size), asked, { signal })) {
    expect(part.length).toBeLessThanOrEqual(1024 * 1024);
    parts.push(part.slice());
  }
  return new Uint8Array(Buffer.concat(parts));
}

const samples: Record<string, Uint8Array> = {
  empty: new Uint8Array(0),
  "one byte": Uint8Array.of(7),
  text: new TextEncoder().encode("weights ".repeat(5000)),
  zeros: new Uint8Array(3_000_000),
  noise: Uint8Array.from({ length: 400_000 }, (_, i) => (Math.imul(i ^ 0x5bd1e995, 2654435761) >>> 11) & 0xff),
};

test("knows the codecs that JAX users meet, by their zarr names", () => {
  for (const name of Object.keys(encoders)) expect(codecNamed(name)?.name).toBe(name);
  expect(codecNamed("lzma")).toBeUndefined();
  expect(codecNamed("__proto__")).toBeUndefined();
});

describe.each(Object.keys(encoders))("%s", (name) => {
  const encode = async (bytes: Uint8Array) => {
    const encoded = await encoders[name]?.(bytes);
    if (encoded === undefined) throw new Error(`no encoder ${name}`);
    return new Uint8Array(encoded);
  };

  test.each(Object.entries(samples))("decodes %s whole and in pieces", async (_, sample) => {
    const encoded = await encode(sample);
    const before = encoded.slice();
    expect(Buffer.compare(await codec(name).decode(encoded, request(sample.length)), sample)).toBe(0);
    expect(Buffer.compare(await codec(name).decode(encoded, request(undefined)), sample)).toBe(0);
    for (const size of [encoded.length < 50_000 ? 1 : 977, 65_536, encoded.length + 1])
      expect(Buffer.compare(await streamed(name, encoded, size, request(sample.length)), sample)).toBe(0);
    expect(Buffer.compare(encoded, before)).toBe(0);
  });

  test("decodes any bytes, in pieces of any size", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 300 }), async (bytes, size) => {
        const encoded = await encode(bytes);
        expect(await codec(name).decode(encoded, request(bytes.length))).toEqual(bytes);
        expect(await streamed(name, encoded, size, request(bytes.length))).toEqual(bytes);
      }),
      { numRuns: 30 },
    );
  });

  test("refuses another decoded length than asked for", async () => {
    const encoded = await encode(samples.text ?? new Uint8Array());
    for (const length of [0, 39_999, 40_001, 50_000_000]) {
      await expect(codec(name).decode(encoded, request(length))).rejects.toThrow(CorruptCheckpointError);
      await expect(streamed(name, encoded, 1000, request(length))).rejects.toThrow(CorruptCheckpointError);
    }
  });

  test("stops a bomb at the longest value allowed", async () => {
    const encoded = await encode(samples.zeros ?? new Uint8Array());
    await expect(codec(name).decode(encoded, request(undefined, 100_000))).rejects.toThrow(/100000 bytes/);
    await expect(streamed(name, encoded, 5000, request(undefined, 100_000))).rejects.toThrow(CorruptCheckpointError);
    await expect(codec(name).decode(encoded, request(3_000_000, 100_000))).rejects.toThrow(CorruptCheckpointError);
  });

  test("refuses a value that is cut short anywhere, without hanging", async () => {
    const sample = samples.text?.subarray(0, 2000) ?? new Uint8Array();
    const encoded = await encode(sample);
    const step = name === "none" ? 97 : 1;
    for (let length = 0; length < encoded.length; length += step) {
      const cut = encoded.subarray(0, length);
      await expect(codec(name).decode(cut, request(sample.length)), `${length}`).rejects.toThrow(CorruptCheckpointError);
      await expect(streamed(name, cut, 50, request(sample.length)), `${length}`).rejects.toThrow(CorruptCheckpointError);
    }
  });

  test("refuses bytes behind the value", async () => {
    const sample = samples.text ?? new Uint8Array();
    const encoded = await encode(sample);
    for (const tail of [
      [0],
      [0, 0, 0],
      [1, 2, 3, 4, 5],
      [...(await encode(new Uint8Array()))],
      [...(await encode(Uint8Array.of(1, 2, 3)))],
    ]) {
      if (tail.length === 0) continue;
      const longer = Uint8Array.of(...encoded, ...tail);
      await expect(codec(name).decode(longer, request(sample.length))).rejects.toThrow(CorruptCheckpointError);
      await expect(streamed(name, longer, 300, request(sample.length))).rejects.toThrow(CorruptCheckpointError);
    }
  });

  test("gives a typed error or a value of the right length for damaged bytes", async () => {
    const sample = samples.text?.subarray(0, 4000) ?? new Uint8Array();
    const encoded = await encode(sample);
    for (let bit = 0; bit < Math.min(encoded.length * 8, 600); bit++) {
      const damaged = encoded.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const run of [codec(name).decode, (bytes: Uint8Array, asked: DecodeRequest) => streamed(name, bytes, 64, asked)]) {
        const outcome = await run(damaged, request(sample.length)).then(
          (value) => value.length,
          (error: unknown) => error,
        );
        if (outcome !== sample.length) expect(outcome).toBeInstanceOf(CorruptCheckpointError);
      }
    }
  });

  test("names file and offset in its errors", async () => {
    const error: unknown = await codec(name)
      .decode(Uint8Array.of(1, 2, 3, 4, 5), request(40))
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ name: "CorruptCheckpointError", path: "d/file", offset: 100 });
  });

  test("stops on abort, between pieces too", async () => {
    const encoded = await encode(samples.zeros ?? new Uint8Array());
    const reason = new Error("stop");
    await expect(codec(name).decode(encoded, request(3_000_000), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const parts = codec(name).stream(pieces(encoded, 100), request(3_000_000), { signal: controller.signal })[Symbol.asyncIterator]();
    if (name !== "blosc") await parts.next();
    controller.abort(reason);
    await expect(drain(parts)).rejects.toBe(reason);
  });

  test("passes on what its source throws, and closes a source it no longer reads", async () => {
    const encoded = await encode(samples.noise ?? new Uint8Array());
    const failure = new Error("the network is gone");
    async function* failing() {
      yield encoded.subarray(0, 10_000);
      throw failure;
    }
    await expect(drain(codec(name).stream(failing(), request(400_000))[Symbol.asyncIterator]())).rejects.toBe(failure);
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield encoded;
      } finally {
        closed = true;
      }
    }
    await expect(drain(codec(name).stream(endless(), request(400_000))[Symbol.asyncIterator]())).rejects.toThrow(CorruptCheckpointError);
    expect(closed).toBe(true);
  });
});

async function drain(parts: AsyncIterator<Uint8Array>): Promise<void> {
  for (let part = await parts.next(); !part.done; part = await parts.next());
}
