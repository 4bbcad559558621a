import { describe, expect, it } from "vitest";
import { parseJson } from "../bytes/json.js";
import { CorruptCheckpointError } from "../errors.js";
import { Pace } from "../tasks/pace.js";
import { parseArrayMetadatas } from "./arrayMetadatas.js";
import { formatRichTree, parseRichTree } from "./richTypes.js";
import { findString } from "./strings.js";

const encode = (text: string) => new TextEncoder().encode(text);

describe("_strings.json", () => {
  // What Orbax 0.12.8 wrote for {"s": "v", "n": {"sl/ash": "w"}, "": "x"}.
  const document = parseJson(encode('{"":"x","n.sl":{"ash":"w"},"s":"v","~":"tilde","/":"slash"}'), "_strings.json");

  it("is addressed by JSON pointers, which a slash in a name splits", () => {
    expect(findString(document, "s")).toBe("v");
    expect(findString(document, "n.sl/ash")).toBe("w");
    expect(findString(document, "")).toBe("x");
    expect(findString(document, "~0")).toBe("tilde");
    expect(findString(document, "~1")).toBe("slash");
  });

  it("has no inherited members", () => {
    expect(findString(document, "constructor")).toBeUndefined();
    expect(findString(document, "s/length")).toBeUndefined();
  });
});

describe("array_metadatas", () => {
  it("marks typed keys", async () => {
    const text =
      '{"array_metadatas": [{"array_metadata": {"param_name": "a", "write_shape": [8], "chunk_shape": [8], "ext_metadata": null}}, {"array_metadata": {"param_name": "k", "write_shape": [2], "chunk_shape": [2], "ext_metadata": {"random_key_impl": "rbg"}}}]}';
    expect(await parseArrayMetadatas(encode(text), "array_metadatas/process_0", new Pace())).toEqual([
      { paramName: "a", writeShape: [8], chunkShape: [8], randomKeyImpl: undefined },
      { paramName: "k", writeShape: [2], chunkShape: [2], randomKeyImpl: "rbg" },
    ]);
  });

  it("names the entry that is wrong", async () => {
    const work = parseArrayMetadatas(encode('{"array_metadatas": [{}]}'), "p", new Pace());
    await expect(work).rejects.toThrow(/array_metadata/);
    await expect(work).rejects.toThrow(CorruptCheckpointError);
  });
});

describe("rich types", () => {
  // Members as Orbax 0.12.8 wrote them for {"d": {}, "nt": NT(a=1.5), "t": (1,), "l": [1]}.
  const value = (type: string, skip: boolean) =>
    `{"category": "custom", "clazz": "ValueMetadataEntry", "data": {"value_type": "${type}", "skip_deserialize": ${skip}}}`;
  const text = `{"d": ${value("Dict", true)}, "nt": {"category": "namedtuple", "module": "__main__", "clazz": "NT", "entries": [{"key": "a", "value": ${value("scalar", false)}}]}, "t": {"category": "custom", "clazz": "tuple", "entries": [${value("scalar", false)}]}, "l": [${value("scalar", false)}]}`;

  it("tell tuples and namedtuples apart, both ways", () => {
    const tree = parseRichTree(text, "_METADATA");
    expect(tree).toMatchObject({
      kind: "dict",
      members: [
        ["d", { kind: "value", data: { value_type: "Dict" } }],
        ["nt", { kind: "namedtuple", module: "__main__", className: "NT", members: [["a", { kind: "value" }]] }],
        ["t", { kind: "tuple", elements: [{ kind: "value" }] }],
        ["l", { kind: "list" }],
      ],
    });
    expect(formatRichTree(tree)).toBe(text);
  });

  it("refuses a node of no known category", () => {
    expect(() => parseRichTree('{"category": "custom", "clazz": "set"}', "f")).toThrow(/custom set/);
  });
});
