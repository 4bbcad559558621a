import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { missingRange } from "./indirectReference.js";
import { checkHex, readHex } from "./records.testing.js";
import { versionList } from "./versionList.js";

const files = [{ basePath: "", relativePath: "d/0" }];
const list = versionList(2, files);

const time = "002a36fe9c971700";

/** Versions of these generations with roots at 0, one byte long. */
const hexOfVersions = (...generations: readonly number[]) => {
  const each = (hex: string) => hex.repeat(generations.length);
  const count = generations.length.toString(16).padStart(2, "0");
  const numbers = generations.map((generation) => generation.toString(16).padStart(2, "0")).join("");
  return `${count} ${numbers} ${each("00")} ${each("00")} ${each("00")} ${each("01")} ${each("01")} ${each("01")} ${each("00")} ${each(time)}`;
};

test("stores the versions column by column", () => {
  const version = { rootHeight: 0, fileId: 0, offset: 0n, length: 1n, numKeys: 1n, numTreeBytes: 1n, numIndirectValueBytes: 0n };
  const commitTime = 0x17979cfe362a00n;
  checkHex(
    list,
    [
      { ...version, generation: 5n, commitTime },
      { ...version, generation: 8n, commitTime },
    ],
    hexOfVersions(5, 8),
  );
});

test("a version may have no root", () => {
  const empty = { generation: 1n, rootHeight: 0, fileId: 0, ...missingRange, numKeys: 0n, numTreeBytes: 0n, numIndirectValueBytes: 0n };
  const hex = `01 01 00 00 ${"ffffffffffffffffff01".repeat(2)} 00 00 00 ${time}`;
  checkHex(list, [{ ...empty, commitTime: 0x17979cfe362a00n }], hex);
});

test.each([[[1]], [[77]], [[1, 2, 3, 4]], [[5, 7]], [[1, 4]]])("takes generations %j of one group of four", (generations) => {
  expect(readHex(list, hexOfVersions(...generations)).map(({ generation }) => Number(generation))).toEqual(generations);
});

test.each([
  ["none", hexOfVersions()],
  ["more than the arity", hexOfVersions(1, 2, 3, 4, 5)],
  ["generation 0", hexOfVersions(0)],
  ["equal generations", hexOfVersions(2, 2)],
  ["falling generations", hexOfVersions(3, 2)],
  ["generations of two groups", hexOfVersions(4, 5)],
  ["a height without root", `01 01 01 00 ${"ffffffffffffffffff01".repeat(2)} 00 00 00 ${time}`],
  ["keys without root", `01 01 00 00 ${"ffffffffffffffffff01".repeat(2)} 01 00 00 ${time}`],
  ["a range that ends above 2^63", `01 01 00 00 ffffffffffffffffff01 01 00 00 00 ${time}`],
  ["a file that is not in the table", `01 01 00 01 00 01 00 00 00 ${time}`],
  ["a cut time", hexOfVersions(1).slice(0, -2)],
])("refuses %s", (_, hex) => {
  expect(() => readHex(list, hex)).toThrow(CorruptCheckpointError);
});
