import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { crc32c } from "../bytes/crc32c.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../errors.js";
import { compressorOf, decodesAsItComes, isCodec } from "./compression.js";
import { decompress } from "./decompress.js";

const place = { path: "d/1", offset: 7 };
const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 7);

const encoders: Readonly<Record<string, (value: Uint8Array) => Uint8Array>> = {
  gzip: (value) => gzipSync(value),
  zlib: (value) => deflateSync(value),
  crc32c: (value) => Uint8Array.from([...value, ...new Uint8Array(Uint32Array.of(crc32c(value)).buffer)]),
};

const encode = (names: readonly string[]) => names.reduce<Uint8Array>((value, name) => encoders[name]?.(value) ?? value, bytes);

const decode = (names: readonly string[], value: Uint8Array, exact: number | undefined = bytes.length, longest = 1000) =>
  decompress(names, value, { exact, longest }, place, {});

describe.each([[], ["gzip"], ["crc32c"], ["gzip", "crc32c"], ["crc32c", "zlib"], ["gzip", "zlib"], ["crc32c", "gzip", "crc32c", "zlib"]])(
  "%s %s %s %s",
  (...names: string[]) => {
    test("is undone, whether the length is known or not", async () => {
      expect(await decode(names, encode(names))).toEqual(bytes);
      expect(await decode(names, encode(names), undefined)).toEqual(bytes);
    });

    test("gives the expected length or an error", async () => {
      await expect(decode(names, encode(names), 299)).rejects.toMatchObject({ name: "CorruptCheckpointError", path: "d/1", offset: 7 });
      await expect(decode(names, encode(names), 301)).rejects.toThrow(CorruptCheckpointError);
    });
  },
);

test("a wrong checksum, and one that is cut off", async () => {
  const sealed = encode(["crc32c"]);
  for (const at of [0, 299, 300, 303]) {
    const damaged = sealed.with(at, (sealed[at] ?? 0) ^ 1);
    await expect(decode(["crc32c"], damaged), `byte ${at}`).rejects.toThrow(/CRC-32C/);
  }
  await expect(decode(["crc32c"], Uint8Array.of(1, 2, 3), undefined)).rejects.toThrow("a checksum of 4 bytes");
});

test("more than is allowed where no length is known", async () => {
  await expect(decode(["gzip", "zlib"], encode(["gzip", "zlib"]), undefined, 10)).rejects.toThrow(CorruptCheckpointError);
});

test("a codec that there is no decoder for", async () => {
  await expect(decode(["lzma"], bytes)).rejects.toThrow(UnsupportedCheckpointError);
});

test("names", () => {
  expect(["zstd", "gzip", "zlib", "blosc", "crc32c"].map(isCodec)).not.toContain(false);
  expect(["none", "lz4", ""].map(isCodec)).not.toContain(true);
  expect([[], ["zstd"], ["crc32c"], ["gzip", "zstd", "crc32c"]].map(compressorOf)).toEqual(["none", "zstd", "none", "gzip+zstd"]);
  expect([[], ["zstd"], ["crc32c"], ["gzip", "zstd"]].map(decodesAsItComes)).toEqual([true, true, false, false]);
});
