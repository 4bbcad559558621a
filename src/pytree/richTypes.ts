import { formatJson } from "../bytes/formatJson.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJson, setMember } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";

/** A tree that tells tuples and namedtuples from lists and dicts, as Orbax's option for rich types saves it. */
export type RichNode =
  | { readonly kind: "dict"; readonly members: readonly RichMember[] }
  | { readonly kind: "list"; readonly elements: readonly RichNode[] }
  | { readonly kind: "tuple"; readonly elements: readonly RichNode[] }
  | { readonly kind: "namedtuple"; readonly module: string; readonly className: string; readonly members: readonly RichMember[] }
  /** A leaf or empty node; `data` are the members of its value metadata. */
  | { readonly kind: "value"; readonly data: JsonObject };

/** A named child of a rich node. */
export type RichMember = readonly [key: string, node: RichNode];

/**
 * Reads the text of `value_metadata_tree`.
 * @throws CorruptCheckpointError for a node of no known category.
 */
export const parseRichTree = (text: string, path: string): RichNode =>
  parseNode(parseJson(new TextEncoder().encode(text), path), path, "value_metadata_tree");

function parseNode(value: JsonValue, path: string, place: string): RichNode {
  const below = (child: JsonValue, key: string | number) => parseNode(child, path, `${place}, ${key}`);
  if (Array.isArray(value)) return { kind: "list", elements: value.map(below) };
  const node = new JsonMember(path, place, value);
  const object = node.object();
  if (typeof object.category !== "string") {
    return { kind: "dict", members: Object.entries(object).map(([key, child]) => [key, below(child, key)]) };
  }
  const className = node.member("clazz").string();
  const category = `${object.category} ${className}`;
  if (object.category === "namedtuple") {
    const module = node.member("module").string();
    return {
      kind: "namedtuple",
      module,
      className,
      members: entriesOf(node).map((entry, index) => parseMember(entry, path, `${place}, ${index}`)),
    };
  }
  if (category === "custom tuple") return { kind: "tuple", elements: entriesOf(node).map(below) };
  if (category === "custom ValueMetadataEntry") return { kind: "value", data: node.member("data").object() };
  return node.fail("a tuple, a namedtuple or a value", category);
}

function entriesOf(node: JsonMember): JsonValue[] {
  node.member("entries").list();
  const entries = node.object().entries;
  return Array.isArray(entries) ? entries : [];
}

function parseMember(entry: JsonValue, path: string, place: string): RichMember {
  const member = new JsonMember(path, place, entry);
  member.member("value");
  return [member.member("key").string(), parseNode(isJsonObject(entry) ? (entry.value ?? null) : null, path, place)];
}

/** Writes the text of `value_metadata_tree` as Orbax does. */
export const formatRichTree = (node: RichNode): string => formatJson(formatNode(node));

function formatNode(node: RichNode): JsonValue {
  switch (node.kind) {
    case "list":
      return node.elements.map(formatNode);
    case "dict": {
      const object: JsonObject = {};
      for (const [key, child] of node.members) setMember(object, key, formatNode(child));
      return object;
    }
    case "tuple":
      return { category: "custom", clazz: "tuple", entries: node.elements.map(formatNode) };
    case "namedtuple":
      return {
        category: "namedtuple",
        module: node.module,
        clazz: node.className,
        entries: node.members.map(([key, child]) => ({ key, value: formatNode(child) })),
      };
    case "value":
      return { category: "custom", clazz: "ValueMetadataEntry", data: node.data };
    default:
      return node satisfies never;
  }
}
