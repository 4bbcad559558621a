import { constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { gzip, zlib } from "./deflate.js";

const text = new TextEncoder().encode("weights ".repeat(1000));
const request = { decodedLength: text.length, longestDecoded: text.length, path: "d/0" };
const bytes = (...parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));

test.each([0, 1, 6, 9])("decodes level %i", async (level) => {
  expect(await gzip.decode(bytes(gzipSync(text, { level })), request)).toEqual(text);
  expect(await zlib.decode(bytes(deflateSync(text, { level })), request)).toEqual(text);
});

test("verifies Adler-32 over values of any length", async () => {
  for (const length of [1, 3799, 3800, 3801, 65521, 1_000_003]) {
    const value = new Uint8Array(length).fill(255);
    const decoded = await zlib.decode(bytes(deflateSync(value)), { decodedLength: length, longestDecoded: length, path: "d/0" });
    expect(Buffer.compare(decoded, value)).toBe(0);
  }
});

describe.each([
  ["gzip", gzip, gzipSync(text)],
  ["zlib", zlib, deflateSync(text)],
] as const)("%s", (_, codec, encoded) => {
  test.each(Array.from({ length: 8 }, (__, i) => i + 1))("refuses a wrong byte %i from the end, in its trailer", async (fromEnd) => {
    const damaged = bytes(encoded);
    damaged[damaged.length - fromEnd] = (damaged[damaged.length - fromEnd] ?? 0) ^ 0x10;
    const expected = { name: "CorruptCheckpointError", path: "d/0" };
    if (codec === gzip || fromEnd <= 4) await expect(codec.decode(damaged, request)).rejects.toMatchObject(expected);
  });

  test("refuses a second member, which platforms treat differently", async () => {
    const other = codec === gzip ? gzipSync("other") : deflateSync("other");
    for (const length of [text.length, text.length + 5]) {
      const asked = { decodedLength: length, longestDecoded: length, path: "d/0" };
      await expect(codec.decode(bytes(encoded, other), asked)).rejects.toThrow(/d\/0/);
    }
  });

  test("refuses data without its container, or with a dictionary", async () => {
    await expect(codec.decode(bytes(deflateRawSync(text)), request)).rejects.toThrow(/d\/0/);
    const dictionary = Buffer.from("weights ");
    await expect(codec.decode(bytes(deflateSync(text, { dictionary })), request)).rejects.toThrow(/d\/0/);
  });

  test("decodes a value that was flushed in between", async () => {
    const flushed =
      codec === gzip ? gzipSync(text, { flush: constants.Z_FULL_FLUSH }) : deflateSync(text, { strategy: constants.Z_HUFFMAN_ONLY });
    expect(await codec.decode(bytes(flushed), request)).toEqual(text);
  });
});
