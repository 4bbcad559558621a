import Blosc from "numcodecs/blosc";
import { describe, expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { blosc } from "./blosc.js";

const value = Uint8Array.from({ length: 20_000 }, (_, i) => (i * i) >> 7);
const request = { decodedLength: value.length, longestDecoded: value.length, path: "d/0", offset: 5 };

const encode = async (cname: string, shuffle: number) =>
  new Uint8Array(await Blosc.fromConfig({ id: "blosc", cname, shuffle, clevel: 5 }).encode(value));

/** Bytes as numbers that grow slowly, as noise, and as zeros, of lengths around those of blosc's blocks and parts. */
const values: readonly (readonly [name: string, value: Uint8Array])[] = [
  1, 3, 127, 128, 131, 512, 515, 4096, 20_000, 300_001, 1_000_000,
].flatMap((length) => [
  [`${length} growing`, Uint8Array.from({ length }, (_, i) => (i * i) >> 7)] as const,
  [`${length} of noise`, Uint8Array.from({ length }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 24)] as const,
  [`${length} zeros`, new Uint8Array(length)] as const,
]);

describe.each(["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"])("with %s", (cname) => {
  test.each([0, 1, 2])("decodes shuffle %i", async (shuffle) => {
    for (const [name, value] of values) {
      const request = { decodedLength: value.length, longestDecoded: value.length, path: "d/0" };
      for (const clevel of [1, 9]) {
        const encoded = new Uint8Array(await Blosc.fromConfig({ id: "blosc", cname, shuffle, clevel }).encode(value));
        const decoded = await blosc.decode(encoded, request);
        expect(Buffer.compare(decoded, value), `${name}, level ${clevel}`).toBe(0);
      }
    }
  });

  test("gives no bytes of a value that is cut within a block, or whose parts have other lengths", async () => {
    const bytes = await encode(cname, 1);
    const view = new DataView(bytes.buffer);
    const first = view.getUint32(16, true);
    const changes: readonly ((changed: DataView) => void)[] = [
      (changed) => changed.setUint32(16, first + 1, true),
      (changed) => changed.setUint32(16, 0xfffffff0, true),
      (changed) => changed.setUint32(first, view.getUint32(first, true) - 1, true),
      (changed) => changed.setUint32(first, view.getUint32(first, true) + 1, true),
      (changed) => changed.setUint32(first, 0xffffffff, true),
      (changed) => changed.setUint8(0, 3),
      (changed) => changed.setUint8(1, 2),
      (changed) => changed.setUint8(2, 8 | view.getUint8(2)),
      (changed) => changed.setUint8(2, (5 << 5) | (view.getUint8(2) & 31)),
      (changed) => changed.setUint8(3, 0),
      (changed) => changed.setUint32(8, 0, true),
      (changed) => changed.setUint32(8, 1, true),
    ];
    for (const [number, change] of changes.entries()) {
      const damaged = bytes.slice();
      change(new DataView(damaged.buffer));
      await expect(blosc.decode(damaged, request), `change ${number}`).rejects.toBeInstanceOf(CorruptCheckpointError);
    }
    const cut = bytes.slice(0, -3);
    new DataView(cut.buffer).setUint32(12, cut.length, true);
    await expect(blosc.decode(cut, request)).rejects.toBeInstanceOf(CorruptCheckpointError);
  });
});

describe("believes no header", () => {
  const withLength = async (at: number, length: number) => {
    const bytes = await encode("lz4", 1);
    new DataView(bytes.buffer).setUint32(at, length, true);
    return bytes;
  };

  test("of a value other than asked for, before it decodes", async () => {
    for (const length of [0, 19_999, 0xffffffff]) {
      await expect(blosc.decode(await withLength(4, length), request)).rejects.toThrow(
        `expected 20000 bytes after decoding blosc, received ${length}`,
      );
      const unknown = { longestDecoded: value.length, path: "d/0" };
      if (length > value.length) await expect(blosc.decode(await withLength(4, length), unknown)).rejects.toThrow("at most 20000 bytes");
    }
  });

  test("of other compressed bytes than there are", async () => {
    await expect(blosc.decode(await withLength(12, 16), request)).rejects.toThrow("d/0 at byte 5: expected 16 bytes of blosc");
  });
});

test("takes no more compressed bytes than the value could need", async () => {
  async function* endless() {
    for (;;) yield new Uint8Array(8192);
  }
  const drain = async () => {
    for await (const _piece of blosc.stream(endless(), request));
  };
  await expect(drain()).rejects.toThrow("24576 compressed bytes or more");
});
