import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import type { DecodeRequest } from "./codec.js";
import { allowedLength, checkLength, cut, joined, once, withinLength } from "./decodedLength.js";

const request = (decodedLength: number | undefined, longestDecoded: number): DecodeRequest => ({
  decodedLength,
  longestDecoded,
  path: "d/0",
});

async function lengthsOf(pieces: AsyncIterable<Uint8Array>): Promise<number[]> {
  const lengths: number[] = [];
  for await (const piece of pieces) lengths.push(piece.length);
  return lengths;
}

test("a value has the length asked for, within what is allowed", () => {
  expect(allowedLength(request(undefined, 10))).toBe(10);
  expect(allowedLength(request(5, 10))).toBe(5);
  expect(allowedLength(request(50, 10))).toBe(10);
  expect(checkLength("zstd", 5, request(5, 10))).toBeUndefined();
  expect(() => checkLength("zstd", 4, request(5, 10))).toThrow("d/0: expected 5 bytes after decoding zstd, received 4");
  expect(() => checkLength("zstd", 11, request(undefined, 10))).toThrow("at most 10 bytes after decoding zstd, received 11 bytes");
  expect(() => checkLength("zstd", 50, request(50, 10))).toThrow(CorruptCheckpointError);
});

test("pieces are cut to a mebibyte", async () => {
  expect(await lengthsOf(withinLength("none", [new Uint8Array(2_500_000)], request(2_500_000, 2 ** 24)))).toEqual([
    1048576, 1048576, 402848,
  ]);
  expect([...cut(new Uint8Array(), 5)]).toEqual([]);
});

test("a stream ends at the first piece with a byte too many", async () => {
  let given = 0;
  function* endless() {
    for (;;) {
      given++;
      yield new Uint8Array(4);
    }
  }
  await expect(lengthsOf(withinLength("gzip", endless(), request(10, 100)))).rejects.toThrow(
    "expected 10 bytes after decoding gzip, received 12 or more",
  );
  expect(given).toBe(3);
});

test("pieces join to a value, of known length or not", async () => {
  const halves = () => withinLength("none", [Uint8Array.of(1, 2), Uint8Array.of(3)], request(undefined, 3));
  expect(await joined(halves(), request(3, 3))).toEqual(Uint8Array.of(1, 2, 3));
  expect(await joined(halves(), request(undefined, 3))).toEqual(Uint8Array.of(1, 2, 3));
  expect(await joined(once(new Uint8Array()), request(undefined, 3))).toEqual(new Uint8Array());
});
