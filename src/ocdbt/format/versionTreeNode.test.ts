import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { checkRoundTrips, readHex, versionTreeNodes } from "./records.testing.js";
import { versionTreeNode } from "./versionTreeNode.js";

test("random nodes come back", () => {
  checkRoundTrips(versionTreeNode, versionTreeNodes, 300);
});

test.each([
  ["an arity of 0", "00 00 00"],
  ["a height above the greatest", "10 03 00"],
  ["a leaf without versions", "04 00 00 00"],
  ["an interior node without children", "04 01 00 00"],
])("refuses %s", (_, hex) => {
  expect(() => readHex(versionTreeNode, hex)).toThrow(CorruptCheckpointError);
});
