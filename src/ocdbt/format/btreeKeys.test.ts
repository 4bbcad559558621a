import { expect, test } from "vitest";
import { ByteStrings } from "../../bytes/byteStrings.js";
import { CorruptCheckpointError } from "../../errors.js";
import { btreeKeys } from "./btreeKeys.js";
import { checkHex, hexBytes, readHex } from "./records.testing.js";

const key = (text: string) => new TextEncoder().encode(text);
const leafKeys = (...texts: string[]) => ({ keys: ByteStrings.of(texts.map(key)), subtreeCommonPrefixLengths: [] });

test("shares with the key before, and stores the rest", () => {
  checkHex(btreeKeys(3, true), leafKeys("a/.zarray", "a/0", "b.c/0"), "0200 090105 612f2e7a61727261 79 30 622e632f30");
  checkHex(
    btreeKeys(2, false),
    { ...leafKeys("m.a/.zarray", "m.b/0"), subtreeCommonPrefixLengths: [2, 2] },
    "02 0b03 0202 6d2e612f2e7a6172726179 622f30",
  );
});

test("takes the empty key first, and keys that are prefixes of the next", () => {
  checkHex(btreeKeys(3, true), leafKeys("", "a", "aa"), "0001 000101 61 61");
});

test("takes keys that share less than they could", () => {
  const keys = btreeKeys(2, true);
  expect(readHex(keys, "00 0202 6161 6162")).toEqual(leafKeys("aa", "ab"));
});

test("takes keys up to 65,535 bytes", () => {
  expect(readHex(btreeKeys(1, true), `ffff03 ${"61".repeat(65535)}`)).toEqual(leafKeys("a".repeat(65535)));
});

test.each([
  ["a shared length above the key before", 2, true, "02 0101 61 62"],
  ["a key above 65,535 bytes", 2, true, `ffff03 ffff0301 ${"61".repeat(65535)} 62`],
  ["keys in descending order", 2, true, "00 0101 62 61"],
  ["keys that are equal", 2, true, "00 0101 61 61"],
  ["keys that are equal but for what is left out", 2, true, "01 0100 61"],
  ["a key that is the start of the one before", 2, true, "01 0200 6161"],
  ["a subtree's prefix above its key", 1, false, "01 02 61"],
  ["a cut key", 1, true, "05 61"],
])("refuses %s", (_, count, inLeaf, hex) => {
  expect(() => readHex(btreeKeys(count, inLeaf), hex)).toThrow(CorruptCheckpointError);
});

test("refuses few bytes that ask for much", () => {
  const count = 5000;
  const hex = `${"ffff03".repeat(count - 1)} ffff03 ${"00".repeat(count - 1)} ${"61".repeat(65535)}`;
  expect(() => readHex(btreeKeys(count, true), hex)).toThrow("bytes together");
  expect(hexBytes(hex).length).toBeLessThan(100_000);
});
