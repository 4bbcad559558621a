import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { dataFileTable, isInside } from "./dataFileTable.js";
import { checkHex, checkRoundTrips, dataFiles, hexOf, readHex } from "./records.testing.js";

const utf8 = (text: string) => hexOf(new TextEncoder().encode(text));

test("no files take one byte", () => {
  checkHex(dataFileTable, [], "00");
});

test("reads and writes the table of a checkpoint that two processes wrote", () => {
  checkHex(
    dataFileTable,
    [
      { basePath: "ocdbt.process_0/", relativePath: "d/06bc153bb98c79ae479422457a3b4b4c" },
      { basePath: "ocdbt.process_0/", relativePath: "d/356ca318c5f446f0651811647054075c" },
      { basePath: "ocdbt.process_1/", relativePath: "d/e48f2fa75e4832102953bb7f8dfb095d" },
    ],
    `03 120e 322024 101010 ${utf8("ocdbt.process_0/d/06bc153bb98c79ae479422457a3b4b4c")}
     ${utf8("356ca318c5f446f0651811647054075c")} ${utf8("1/d/e48f2fa75e4832102953bb7f8dfb095d")}`,
  );
});

test("shares of relative paths only where the base paths are equal", () => {
  checkHex(
    dataFileTable,
    [
      { basePath: "", relativePath: "ab" },
      { basePath: "a", relativePath: "bc" },
      { basePath: "a", relativePath: "bd" },
    ],
    `03 0002 020301 000101 ${utf8("ab")} ${utf8("abc")} ${utf8("d")}`,
  );
});

test("shares bytes within a character", () => {
  checkHex(
    dataFileTable,
    [
      { basePath: "", relativePath: "ä" },
      { basePath: "", relativePath: "ö" },
    ],
    "02 01 0201 0000 c3a4 b6",
  );
});

test("random tables come back", () => {
  checkRoundTrips(dataFileTable, dataFiles);
});

test("an entry may stand for no file", () => {
  checkHex(dataFileTable, [{ basePath: "", relativePath: "" }], "01 00 00");
});

test.each([
  ["more files than bytes", "ffffffffffffffffff01"],
  ["a path above 65,535 bytes", `02 ffff03 ffff0301 0000 ${"61".repeat(65535)} 62`],
  ["a base path above the path", "01 01 02 61"],
  ["a shared prefix above the path before", `02 03 0201 0000 ${utf8("ab")} 63`],
  ["a shared prefix above the shorter base path", `02 02 0301 0002 ${utf8("abc")} 64`],
  ["a first path that shares", "01 01"],
  ["a cut path", "01 05 00 61"],
  ["bytes that are not UTF-8", "01 01 00 ff"],
  ["few bytes that ask for much", `ffff01 ${"ffff03".repeat(32766)} ${"00".repeat(32767)} ${"00".repeat(32767)}`],
])("refuses %s", (_, hex) => {
  expect(() => readHex(dataFileTable, hex)).toThrow(CorruptCheckpointError);
});

test.each([
  "/etc/passwd",
  "../other/d/0",
  "d/../../x",
  "d/..",
  "..",
  "a//b",
  "./d/0",
  "d/.",
  "d/",
  "C:\\x",
  "c:x",
  "\\\\host\\x",
  "d\\..\\..\\x",
  "a\0b",
])("refuses %j, which leaves the folder or names no file", (path) => {
  expect(isInside(path)).toBe(false);
  const hex = utf8(path);
  expect(() => readHex(dataFileTable, `01 ${(hex.length / 2).toString(16).padStart(2, "0")} 00 ${hex}`)).toThrow(
    /inside the database's folder/,
  );
});

test.each(["d/0", "ocdbt.process_0/d/0", "...", "..a/b..", "ocdbt_data/ü 漢"])("accepts %j", (path) => {
  expect(isInside(path)).toBe(true);
});
