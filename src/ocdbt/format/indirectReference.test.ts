import { expect, test } from "vitest";
import { ByteReader } from "../../bytes/reader.js";
import { CorruptCheckpointError } from "../../errors.js";
import { checkReference, fileId, isMissing, missingRange } from "./indirectReference.js";
import { checkHex, readHex } from "./records.testing.js";

const files = [
  { basePath: "", relativePath: "d/0" },
  { basePath: "", relativePath: "d/1" },
];

test("a file's index stays within the table", () => {
  checkHex(fileId(files), 1, "01");
  expect(() => readHex(fileId(files), "02")).toThrow("expected an index of one of 2 data files, received 2");
  expect(() => readHex(fileId([]), "00")).toThrow(CorruptCheckpointError);
  expect(() => readHex(fileId(files), "ffffffffffffffffff01")).toThrow(CorruptCheckpointError);
});

test("a range ends below 2^63", () => {
  const reader = new ByteReader(new Uint8Array(), { path: "d/0", offset: 0 });
  expect(checkReference(reader, { offset: 2n ** 63n - 2n, length: 1n })).toBeUndefined();
  expect(() => checkReference(reader, { offset: 2n ** 63n - 1n, length: 1n })).toThrow(CorruptCheckpointError);
  expect(() => checkReference(reader, { ...missingRange })).toThrow(CorruptCheckpointError);
});

test("only the largest offset and length together stand for nothing", () => {
  expect(isMissing({ fileId: 0, ...missingRange })).toBe(true);
  expect(isMissing({ fileId: 0, ...missingRange, offset: 0n })).toBe(false);
  expect(isMissing({ fileId: 0, ...missingRange, length: 0n })).toBe(false);
});
