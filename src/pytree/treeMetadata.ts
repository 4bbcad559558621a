import { formatJson } from "../bytes/formatJson.js";
import { type JsonObject, type JsonValue, parseJson, parseJsonInTurns, setMember } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";
import type { Pace } from "../tasks/pace.js";
import { type KeyPath, type PathKey, pathLabel } from "./keyPath.js";

/** Value types that Orbax writes: arrays, Python scalars and strings, nodes without children, and leaves that were left out (`...`). */
export const valueTypes = {
  "jax.Array": "array",
  "np.ndarray": "array",
  scalar: "scalar",
  string: "string",
  None: "empty",
  Dict: "empty",
  List: "empty",
  Tuple: "empty",
  NamedTuple: "empty",
  /** Python's `...`: a leaf that is not there since Orbax 0.11.13; 0.6.4 to 0.11.0 refuse it, and up to 0.5.16 it is saved as None. */
  placeholder: "empty",
} as const;

/** Name of a value type as it stands in `_METADATA`. */
export type ValueType = keyof typeof valueTypes;

/** One leaf or empty node of a saved tree. */
export interface TreeEntry {
  readonly path: KeyPath;
  readonly valueType: ValueType;
  /** True for empty nodes, and for values that an older Orbax put into its msgpack file. */
  readonly skipDeserialize: boolean;
  /** Shape in elements of the piece that one writer wrote; only of `jax.Array`. */
  readonly writeShape?: readonly number[];
  /** The value type in the file, where a type handler of the writer's own gave it: what is stored may be an array. */
  readonly foreignType?: string;
}

/** The content of an item's `_METADATA`; members that the file lacks are undefined. */
export interface TreeMetadata {
  /** Leaves and empty nodes in tree order. */
  readonly entries: readonly TreeEntry[];
  readonly useOcdbt?: boolean | null | undefined;
  readonly useZarr3?: boolean | undefined;
  /** True: every chunk is stored, so that a missing one is lost. Orbax takes absence for false. */
  readonly storeArrayDataEqualToFillValue?: boolean | undefined;
  readonly customMetadata?: JsonValue | undefined;
  /** JSON text of Orbax's rich types, see `richTypes.ts`. */
  readonly valueMetadataTree?: string | undefined;
}

/** Most keys of a path; Python's own recursion ends near 1,000, and trees are walked by recursion here, too. */
const longestPath = 512;

const keyKinds = { 1: "sequence", 2: "mapping" } as const;

/**
 * Reads an item's `_METADATA`.
 * @throws CorruptCheckpointError naming the entry that breaks the format.
 */
export function parseTreeMetadata(bytes: Uint8Array, path: string): TreeMetadata {
  const document = new JsonMember(path, "the file", parseJson(bytes, path, { floats: "tagged" }));
  return { entries: Array.from(entriesOf(document, path), parseEntry), ...parseOptions(document) };
}

/** As {@link parseTreeMetadata}, with rests. */
export async function parseTreeMetadataInTurns(bytes: Uint8Array, path: string, pace: Pace): Promise<TreeMetadata> {
  const document = new JsonMember(path, "the file", await parseJsonInTurns(bytes, path, pace, { floats: "tagged" }));
  const entries: TreeEntry[] = [];
  for (const entry of entriesOf(document, path)) {
    if (pace.dueForSmallStep) await pace.rest();
    entries.push(parseEntry(entry));
  }
  return { entries, ...parseOptions(document) };
}

function* entriesOf(document: JsonMember, path: string): Generator<JsonMember> {
  const entries = document.member("tree_metadata").object();
  for (const label of Object.keys(entries)) yield new JsonMember(path, `entry ${label}`, entries[label]);
}

function parseOptions(document: JsonMember): Omit<TreeMetadata, "entries"> {
  const members = document.object();
  return {
    useOcdbt: members.use_ocdbt === null ? null : document.optional("use_ocdbt")?.boolean(),
    useZarr3: document.optional("use_zarr3")?.boolean(),
    storeArrayDataEqualToFillValue: document.optional("store_array_data_equal_to_fill_value")?.boolean(),
    customMetadata: members.custom_metadata,
    valueMetadataTree: document.optional("value_metadata_tree")?.string(),
  };
}

function parseEntry(entry: JsonMember): TreeEntry {
  const value = entry.member("value_metadata");
  const valueType = value.stringAt("value_type");
  if (isMisspelt(valueType)) value.fail(`a value type of ${Object.keys(valueTypes).join(", ")}`, valueType);
  const writeShape = value.optional("write_shape")?.integers();
  const keys = entry.member("key_metadata").list();
  if (keys.length > longestPath) entry.member("key_metadata").fail(`at most ${longestPath} keys`, `${keys.length}`);
  return {
    path: keys.map(parseKey),
    ...(Object.hasOwn(valueTypes, valueType) ? { valueType: valueType as ValueType } : { valueType: "np.ndarray", foreignType: valueType }),
    skipDeserialize: value.booleanAt("skip_deserialize"),
    ...(writeShape && { writeShape }),
  };
}

/** Whether one character makes a text another value type than Orbax's: a damaged file, and no name that somebody gave. */
function isMisspelt(valueType: string): boolean {
  if (valueType === "") return true;
  if (Object.hasOwn(valueTypes, valueType)) return false;
  const differences = (known: string) => [...known].filter((character, index) => character !== valueType[index]).length;
  return Object.keys(valueTypes).some((known) => known.length === valueType.length && differences(known) === 1);
}

function parseKey(entry: JsonMember): PathKey {
  const keyType = entry.integerAt("key_type");
  const key = entry.stringAt("key");
  if (keyType !== 1 && keyType !== 2) return entry.fail("key_type 1 (sequence) or 2 (mapping)", String(keyType));
  return { key, kind: keyKinds[keyType] };
}

/** Writes `_METADATA` as Orbax does, byte for byte; members that are undefined are left out. */
export function formatTreeMetadata(metadata: TreeMetadata): string {
  const tree: JsonObject = {};
  for (const entry of metadata.entries) setMember(tree, pathLabel(entry.path), formatEntry(entry));
  const members: [string, JsonValue | undefined][] = [
    ["tree_metadata", tree],
    ["use_ocdbt", metadata.useOcdbt],
    ["use_zarr3", metadata.useZarr3],
    ["store_array_data_equal_to_fill_value", metadata.storeArrayDataEqualToFillValue],
    ["custom_metadata", metadata.customMetadata],
    ["value_metadata_tree", metadata.valueMetadataTree],
  ];
  return formatJson(Object.fromEntries(members.filter((member): member is [string, JsonValue] => member[1] !== undefined)));
}

const formatEntry = (entry: TreeEntry): JsonObject => ({
  key_metadata: entry.path.map(({ key, kind }) => ({ key, key_type: kind === "sequence" ? 1 : 2 })),
  value_metadata: formatValueMetadata(entry),
});

/** What Orbax writes of a leaf or empty node beside its path. */
export const formatValueMetadata = ({ valueType, foreignType, skipDeserialize, writeShape }: TreeEntry): JsonObject => ({
  value_type: foreignType ?? valueType,
  skip_deserialize: skipDeserialize,
  ...(writeShape && { write_shape: [...writeShape] }),
});
