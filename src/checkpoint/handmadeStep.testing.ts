import type { DataFile } from "../ocdbt/format/dataFileTable.js";
import type { LeafValue } from "../ocdbt/format/leafValues.js";
import { inline, leafOf, manifestOf } from "../ocdbt/handmade.testing.js";
import type { Files } from "./fixtureSteps.testing.js";

/** Members of zarr metadata, of any value. */
export type Zarray = Readonly<Record<string, unknown>>;

/** An array of a handmade step. */
export interface HandmadeArray {
  /** What differs in its metadata from four float32 in one chunk without compression, or the metadata as text. */
  readonly zarray?: Zarray | string;
  /** Values of its chunks by the end of their keys; four zeros as `"0"` unless given. */
  readonly chunks?: Readonly<Record<string, LeafValue>>;
}

const fourFloats: Zarray = {
  chunks: [4],
  compressor: null,
  dimension_separator: ".",
  dtype: "<f4",
  fill_value: null,
  filters: null,
  order: "C",
  shape: [4],
  zarr_format: 2,
};

/** Bytes of a JSON value, or of a text that may be none. */
export const jsonBytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

/** A value within its node. */
export const inlineBytes = (bytes: Uint8Array): LeafValue => ({ kind: "inline", bytes });

/** Entries of a database with these arrays, by key. */
export function entriesOf(arrays: Readonly<Record<string, HandmadeArray>>): Record<string, LeafValue> {
  const entries: [string, LeafValue][] = [];
  for (const [name, { zarray = {}, chunks = { 0: inlineBytes(new Uint8Array(16)) } }] of Object.entries(arrays)) {
    const text = typeof zarray === "string" ? zarray : JSON.stringify({ ...fourFloats, ...zarray });
    entries.push([`tree.${name}/.zarray`, inline(text)]);
    for (const [chunk, value] of Object.entries(chunks)) entries.push([`tree.${name}/${chunk}`, value]);
  }
  return Object.fromEntries(entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

/** The entry of a leaf in `_METADATA`. */
export const treeEntry = (keys: readonly (string | number)[], valueType = "jax.Array") => ({
  key_metadata: keys.map((key) => ({ key: String(key), key_type: typeof key === "number" ? 1 : 2 })),
  value_metadata: { value_type: valueType, skip_deserialize: false },
});

/** `_METADATA` of these leaves below substrax's node, labelled by their order. */
export const treeMetadata = (entries: readonly object[], members: object = {}): Uint8Array =>
  jsonBytes({
    tree_metadata: Object.fromEntries(entries.entries()),
    use_ocdbt: true,
    store_array_data_equal_to_fill_value: true,
    ...members,
  });

/** The record of step 1 with the item `model`. */
export const recordOf = (members: object = {}): Uint8Array =>
  jsonBytes({ format: "substrax-checkpoint", step: 1, items: ["model"], created_at: "", ...members });

/** Step 1 of a store: its item `model` has these arrays, and other files where they are given. */
export function handmadeStep(
  arrays: Readonly<Record<string, HandmadeArray>>,
  { files = {}, table = [] }: { readonly files?: Readonly<Record<string, Uint8Array>>; readonly table?: readonly DataFile[] } = {},
): Files {
  const root = leafOf(entriesOf(arrays), table);
  return new Map(
    Object.entries({
      "1/metadata/metadata": recordOf(),
      "1/model/_METADATA": treeMetadata(Object.keys(arrays).map((name) => treeEntry(["tree", name]))),
      "1/model/manifest.ocdbt": manifestOf(root),
      "1/model/root": root,
      ...files,
    }),
  );
}
