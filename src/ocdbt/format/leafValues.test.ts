import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { LeafValues, leafValues } from "./leafValues.js";
import { checkHex, hexBytes, readHex } from "./records.testing.js";

const files = [
  { basePath: "", relativePath: "d/0" },
  { basePath: "", relativePath: "d/1" },
];

test("stores the columns of the values in data files apart from those in the node", () => {
  checkHex(
    leafValues(4, files),
    LeafValues.of([
      { kind: "inline", bytes: hexBytes("aabb") },
      { kind: "indirect", fileId: 1, offset: 5n, length: 300n },
      { kind: "inline", bytes: hexBytes("") },
      { kind: "indirect", fileId: 0, offset: 2n ** 40n, length: 0n },
    ]),
    "02 ac02 00 00 | 00 01 00 01 | 01 00 | 05 808080808020 | aabb".replaceAll("|", ""),
  );
});

test.each([
  ["another kind", "00 02"],
  ["an inline value above 1 MiB", "818040 00"],
  ["a file that is not in the table", "01 01 02 00"],
  ["a range that ends above 2^63", "01 01 00 ffffffffffffffff7f"],
  ["a cut inline value", "05 00 aa"],
])("refuses %s", (_, hex) => {
  expect(() => readHex(leafValues(1, files), hex)).toThrow(CorruptCheckpointError);
});
