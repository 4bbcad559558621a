import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { formatTreeMetadata, parseTreeMetadata } from "./treeMetadata.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

/** A fixture whose `_METADATA` is no JSON. */
const damaged = ["records/checkpoints/60/data_iterator"];

const metadataFiles = readdirSync(fixtures, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name === "_METADATA" && !damaged.some((place) => entry.parentPath.endsWith(place)))
  .map((entry) => join(entry.parentPath, entry.name));

const parse = (value: unknown) => parseTreeMetadata(new TextEncoder().encode(JSON.stringify(value)), "model/_METADATA");

const entry = (key_metadata: unknown, value_metadata: unknown = { value_type: "scalar", skip_deserialize: false }) => ({
  tree_metadata: { x: { key_metadata, value_metadata } },
});

describe("_METADATA", () => {
  it("finds the fixtures", () => {
    expect(metadataFiles.length).toBeGreaterThan(10);
  });

  it.each(metadataFiles.map((file) => [file.slice(fixtures.length + 1)]))("reads and writes %s byte for byte", (file) => {
    const bytes = readFileSync(join(fixtures, file));
    expect(formatTreeMetadata(parseTreeMetadata(bytes, file))).toBe(bytes.toString());
  });

  it("needs only tree_metadata", () => {
    expect(parse(entry([{ key: "a", key_type: 2 }]))).toMatchObject({
      entries: [{ path: [{ key: "a", kind: "mapping" }], valueType: "scalar", skipDeserialize: false }],
      useOcdbt: undefined,
      storeArrayDataEqualToFillValue: undefined,
    });
  });

  it("keeps the order of the entries and takes __proto__ as a key", () => {
    const text =
      '{"tree_metadata": {"__proto__": {"key_metadata": [{"key": "__proto__", "key_type": 2}], "value_metadata": {"value_type": "None", "skip_deserialize": true}}}}';
    expect(parseTreeMetadata(new TextEncoder().encode(text), "f").entries[0]?.path[0]?.key).toBe("__proto__");
  });

  it.each([
    ["no tree", {}, /tree_metadata/],
    ["a list", [], /an object/],
    ["a path that is no list", entry("a"), /a list at entry x, key_metadata/],
    ["a key of another type", entry([{ key: 1, key_type: 1 }]), /a string/],
    ["a key type 3", entry([{ key: "a", key_type: 3 }]), /key_type 1/],
    ["an unknown value type", entry([], { value_type: "foo", skip_deserialize: false }), /value type/],
    ["no skip_deserialize", entry([], { value_type: "scalar" }), /skip_deserialize/],
    ["no value metadata", { tree_metadata: { x: { key_metadata: [] } } }, /value_metadata/],
  ])("refuses %s", (_, value, message) => {
    expect(() => parse(value)).toThrow(CorruptCheckpointError);
    expect(() => parse(value)).toThrow(message);
  });
});
