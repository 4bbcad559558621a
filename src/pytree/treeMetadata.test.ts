import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { CorruptCheckpointError } from "../errors.js";
import { Pace } from "../tasks/pace.js";
import { formatTreeMetadata, parseTreeMetadata, parseTreeMetadataInTurns } from "./treeMetadata.js";

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

  it.each(metadataFiles.map((file) => [file.slice(fixtures.length + 1)]))("reads %s in turns to the same", async (file) => {
    const bytes = readFileSync(join(fixtures, file));
    expect(await parseTreeMetadataInTurns(bytes, file, new Pace())).toEqual(parseTreeMetadata(bytes, file));
  });

  it("rests while it reads a long file, and stops where that was aborted", async () => {
    const value = { value_type: "scalar", skip_deserialize: false };
    const keys = (index: number) => [{ key: `${index}${"x".repeat(80)}`, key_type: 2 }];
    const entries = Array.from({ length: 10_000 }, (_, index) => [index, { key_metadata: keys(index), value_metadata: value }]);
    const bytes = new TextEncoder().encode(JSON.stringify({ tree_metadata: Object.fromEntries(entries), custom_metadata: 1 }));
    const controller = new AbortController();
    const pace = new Pace(controller.signal);
    vi.spyOn(pace, "due", "get").mockReturnValue(true);
    vi.spyOn(pace, "dueForSmallStep", "get").mockReturnValue(true);
    const rest = vi.spyOn(pace, "rest").mockResolvedValue();
    expect(await parseTreeMetadataInTurns(bytes, "f", pace)).toEqual(parseTreeMetadata(bytes, "f"));
    expect(rest.mock.calls.length).toBeGreaterThan(10_000);
    rest.mockRestore();
    controller.abort(new Error("stop"));
    await expect(parseTreeMetadataInTurns(bytes, "f", pace)).rejects.toThrow("stop");
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

  it("takes what a type handler of the writer's own stored for an array", () => {
    const document = entry([], { value_type: "example.Held", skip_deserialize: false });
    expect(parse(document).entries).toEqual([{ path: [], valueType: "np.ndarray", foreignType: "example.Held", skipDeserialize: false }]);
    expect(formatTreeMetadata(parse(document))).toContain('"value_type": "example.Held"');
  });

  it.each([
    ["no tree", {}, /tree_metadata/],
    ["a list", [], /an object/],
    ["a path that is no list", entry("a"), /a list at entry x, key_metadata/],
    ["a key of another type", entry([{ key: 1, key_type: 1 }]), /a string/],
    ["a key type 3", entry([{ key: "a", key_type: 3 }]), /key_type 1/],
    ["a damaged value type", entry([], { value_type: "scalaR", skip_deserialize: false }), /value type/],
    ["an empty value type", entry([], { value_type: "", skip_deserialize: false }), /value type/],
    ["no skip_deserialize", entry([], { value_type: "scalar" }), /skip_deserialize/],
    ["no value metadata", { tree_metadata: { x: { key_metadata: [] } } }, /value_metadata/],
  ])("refuses %s", (_, value, message) => {
    expect(() => parse(value)).toThrow(CorruptCheckpointError);
    expect(() => parse(value)).toThrow(message);
  });
});
