import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { keepRichTypes } from "./keepRichTypes.js";
import type { KeyPath } from "./keyPath.js";
import { formatRichTree, parseRichTree, type RichNode } from "./richTypes.js";
import { parseTreeMetadata, type TreeEntry } from "./treeMetadata.js";

test.each(["0.11.33", "0.12.8"])("a tree of Orbax %s that is saved again has the rich types that it had", (version) => {
  const file = new URL(`../../e2e/fixtures/data/generations/${version}/checkpoints/rich-types/_METADATA`, import.meta.url);
  const { entries, valueMetadataTree = "" } = parseTreeMetadata(readFileSync(file), "_METADATA");
  const rich = parseRichTree(valueMetadataTree, "_METADATA");
  expect(formatRichTree(keepRichTypes(entries, rich))).toBe(valueMetadataTree);
});

const entry = (...keys: (string | number)[]): TreeEntry => ({
  path: keys.map((key) => ({ key: String(key), kind: typeof key === "number" ? "sequence" : "mapping" })) as KeyPath,
  valueType: "scalar",
  skipDeserialize: false,
});
const value = { kind: "value", data: { value_type: "scalar", skip_deserialize: false } } as const;
const point = (...keys: string[]): RichNode => ({
  kind: "namedtuple",
  module: "m",
  className: "Point",
  members: keys.map((key) => [key, value]),
});

test("what has changed since has the types that still fit it", () => {
  const like: RichNode = {
    kind: "dict",
    members: [
      ["longer", { kind: "tuple", elements: [point("y", "x")] }],
      ["other fields", point("x", "y")],
      ["fewer fields", point("x", "y")],
      ["a leaf", value],
      ["no list", point("x")],
    ],
  };
  const entries = [
    entry("a leaf", "now", 0),
    entry("fewer fields", "x"),
    entry("longer", 0, "x"),
    entry("longer", 0, "y"),
    entry("longer", 1),
    entry("new", "x"),
    entry("no list", 0),
    entry("other fields", "x"),
    entry("other fields", "z"),
  ];
  const dict = (...members: [string, RichNode][]): RichNode => ({ kind: "dict", members });
  expect(keepRichTypes(entries, like)).toEqual(
    dict(
      ["a leaf", dict(["now", { kind: "list", elements: [value] }])],
      ["fewer fields", dict(["x", value])],
      ["longer", { kind: "tuple", elements: [point("y", "x"), value] }],
      ["new", dict(["x", value])],
      ["no list", { kind: "list", elements: [value] }],
      ["other fields", dict(["x", value], ["z", value])],
    ),
  );
});
