import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type JsonValue, parseJson } from "../bytes/json.js";
import { CheckpointValueError } from "../errors.js";
import { Pace } from "../tasks/pace.js";
import { parseArrayMetadatas } from "./arrayMetadatas.js";
import { formatArrayMetadatas } from "./formatArrayMetadatas.js";
import { formatStrings, unsavableStrings } from "./formatStrings.js";
import { firstDevice, formatSharding } from "./sharding.js";
import { findString } from "./strings.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data");

/** Side files that real Orbax wrote, by path. */
const filesNamed = (name: string): [string][] =>
  readdirSync(fixtures, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === name)
    .map((entry) => [join(entry.parentPath, entry.name).slice(fixtures.length + 1)]);

const bytesOf = (path: string): Buffer => readFileSync(join(fixtures, path));

const parse = (text: string) => parseJson(new TextEncoder().encode(text), "file");

describe("_sharding", () => {
  it.each(filesNamed("_sharding"))("is written byte for byte as in %s", (path) => {
    const text = bytesOf(path).toString();
    const members = Object.entries(JSON.parse(text) as Record<string, string>);
    const byName = members.map(([key, sharding]) => [Buffer.from(key, "base64url").toString(), sharding] as const);
    expect(formatSharding(new Map(byName.reverse()))).toBe(text);
  });

  it("names the first device of any platform", () => {
    expect(firstDevice).toBe(
      '{"sharding_type": "NamedSharding", "shape": [1], "axis_names": ["d"], "partition_spec": [], "device_mesh": {"mesh": [{"id": 0}]}}',
    );
    expect(formatSharding(new Map([["", "x"]]))).toBe('{"":"x"}');
  });
});

describe("array_metadatas", () => {
  it.each(filesNamed("process_0"))("are written byte for byte as in %s", async (path) => {
    const bytes = bytesOf(path);
    expect(formatArrayMetadatas(await parseArrayMetadatas(bytes, path, new Pace()))).toBe(bytes.toString());
  });
});

/** All texts with their names, which are pointers without the first slash. */
function stringsIn(value: JsonValue, place: readonly string[] = []): [string, string][] {
  if (typeof value === "string") return [[place.join("/"), value]];
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return members.flatMap(([key, member]) => stringsIn(member, [...place, key.replaceAll("~", "~0").replaceAll("/", "~1")]));
}

describe("_strings.json", () => {
  it.each(filesNamed("_strings.json"))("is written byte for byte as in %s", (path) => {
    const text = bytesOf(path).toString();
    expect(formatStrings(new Map(stringsIn(parse(text)).reverse()))).toBe(text);
  });

  // Each right side is what Orbax 0.12.8 wrote.
  it.each<[Record<string, string>, string]>([
    [{ "x/0": "s", k: "v", "z/-": "u", "w/": "e", "n/0/1": "q" }, '{"k":"v","n":{"0":{"1":"q"}},"w":{"":"e"},"x":{"0":"s"},"z":{"-":"u"}}'],
    [{ "x/5": "s", "x/0": "v" }, '{"x":{"0":"v","5":"s"}}'],
    [{ "/": "s" }, '{"":{"":"s"}}'],
    [{ "~0": "s", "~1x": "t" }, '{"/x":"t","~":"s"}'],
    [{ "q~1": "s", "q/": "t" }, '{"q":{"":"t"},"q/":"s"}'],
    [{ "10": "a", "2": "b" }, '{"10":"a","2":"b"}'],
    [{ "": "bare" }, '{"":"bare"}'],
  ])("places %j", (strings, text) => {
    expect(formatStrings(new Map(Object.entries(strings)))).toBe(text);
  });

  it("refuses what Orbax cannot store, naming all of it", () => {
    const strings = new Map([
      ["a", "s"],
      ["a/b", "t"],
      ["x~", "u"],
      ["~2", "u"],
      ["half", "\ud800"],
      ["fine~0", "\u{1f389}"],
    ]);
    expect([...unsavableStrings(strings).keys()]).toEqual(["a/b", "x~", "~2", "half"]);
    expect(() => formatStrings(strings)).toThrow(CheckpointValueError);
    expect(() => formatStrings(strings)).toThrow(/"a\/b" would lie below the string "a"; "x~" has a "~"/);
  });

  it("is found again by name, whatever the names", () => {
    const token = fc.string({ unit: fc.constantFrom("a", "~0", "~1", "0", "é", "\u{1f389}", "__proto__"), maxLength: 3 });
    const names = fc.array(token, { minLength: 1, maxLength: 3 }).map((tokens) => tokens.join("/"));
    fc.assert(
      fc.property(fc.dictionary(names, fc.string({ unit: "binary" }), { maxKeys: 8 }), (dictionary) => {
        const all = new Map(Object.entries(dictionary));
        const unsavable = unsavableStrings(all);
        const strings = new Map([...all].filter(([name]) => !unsavable.has(name)));
        const document = parse(formatStrings(strings));
        for (const [name, text] of strings) expect(findString(document, name)).toBe(text);
        expect(stringsIn(document)).toHaveLength(strings.size);
      }),
    );
  });
});
