import Blosc from "numcodecs/blosc";
import { describe, expect, test } from "vitest";
import { blosc } from "./blosc.js";

const value = Uint8Array.from({ length: 20_000 }, (_, i) => (i * i) >> 7);
const request = { decodedLength: value.length, longestDecoded: value.length, path: "d/0", offset: 5 };

const encode = async (cname: string, shuffle: number) =>
  new Uint8Array(await Blosc.fromConfig({ id: "blosc", cname, shuffle, clevel: 5 }).encode(value));

describe.each(["blosclz", "lz4", "lz4hc", "zlib", "zstd"])("with %s", (cname) => {
  test.each([0, 1, 2])("decodes shuffle %i", async (shuffle) => {
    expect(await blosc.decode(await encode(cname, shuffle), request)).toEqual(value);
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
