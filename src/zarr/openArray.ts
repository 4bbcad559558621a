import { dtypes } from "../arrays/dtypes.js";
import { elementCount } from "../arrays/spec.js";
import { longestJson } from "../bytes/json.js";
import type { LocatedStorage } from "../storage/located.js";
import type { ReadableStorage, ReadOptions } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { Pace } from "../tasks/pace.js";
import { compressorOf } from "./compression.js";
import { chunkCount, chunksOf } from "./grid.js";
import { keyPrefix } from "./keyPrefix.js";
import type { ArrayMetadata } from "./metadata.js";
import type { RawArray } from "./rawArray.js";
import { isStreamable, type ZarrArray } from "./zarrArray.js";
import { parseZarray } from "./zarray.js";

export type { ZarrChunk } from "./grid.js";
export type { ZarrArray } from "./zarrArray.js";

/** Where the metadata of arrays lie: a storage, or what reads many values at the cost of one. */
export type ArrayStorage = Pick<ReadableStorage, "read"> | Pick<LocatedStorage, "readAll">;

/** How {@link openZarrArrays} opens. */
export interface OpenArraysOptions {
  readonly pace: Pace;
  /** Version of zarr that is asked for first; 2 unless given. */
  readonly likely?: 2 | 3 | undefined;
}

/** What many values are read with. */
interface MetadataOptions extends Omit<ReadOptions, "range">, OpenArraysOptions {}

/** Arrays whose metadata are read together: enough to ask for all nodes of an index at once, few enough for the memory that they take. */
const arraysAtOnce = 4096;

/**
 * Opens the array `name` of a storage: zarr v2 (`.zarray`), else v3 (`zarr.json`); `undefined` where there is neither.
 * @throws CorruptCheckpointError for damaged metadata, UnsupportedCheckpointError for what is not read.
 */
export async function openZarrArray(storage: ArrayStorage, name: string, context: TaskContext = {}): Promise<ZarrArray | undefined> {
  const [array] = await openZarrArrays(storage, [name], { pace: new Pace() }, context);
  return array;
}

/** The same of many arrays, in the order of their names; a storage that reads many values at once saves a promise for each. */
export async function openZarrArrays(
  storage: ArrayStorage,
  names: readonly string[],
  { pace, likely }: OpenArraysOptions,
  context: TaskContext = {},
): Promise<(ZarrArray | undefined)[]> {
  const arrays: (ZarrArray | undefined)[] = [];
  const known: KnownMetadata = { 2: new Map(), 3: new Map() };
  for (let start = 0; start < names.length; start += arraysAtOnce) {
    for (const file of await readMetadata(storage, names.slice(start, start + arraysAtOnce), {
      signal: context.signal,
      longest: longestJson,
      pace,
      likely,
    })) {
      if (pace.dueForSmallStep) await pace.rest();
      context.signal?.throwIfAborted();
      const { bytes, version } = file;
      if (bytes === undefined) {
        arrays.push(undefined);
        continue;
      }
      const same = known[version];
      const text = bytes.length > longestKnown ? undefined : byteText.decode(bytes);
      let metadata = text === undefined ? undefined : same.get(text);
      if (metadata === undefined) {
        // Awaited only where they are new, since thousands are not.
        metadata = await openMetadata({ ...file, bytes });
        if (text !== undefined && same.size < mostKnown) same.set(text, metadata);
      }
      arrays.push(arrayOf(file, metadata));
    }
  }
  return arrays;
}

/** Metadata by their version and text: most arrays of a checkpoint have those of some others. */
type KnownMetadata = Readonly<Record<keyof typeof fileOf, Map<string, OpenedMetadata>>>;

/** Most metadata that are kept, and the longest in bytes: arrays that are all different do no harm. */
const mostKnown = 1000;
const longestKnown = 4096;

/** A character for each byte, so that two files have one text only where they are equal. */
const byteText = /* @__PURE__ */ new TextDecoder("latin1");

/** What arrays of the same metadata have in common. */
interface OpenedMetadata extends ArrayMetadata {
  readonly fill: Uint8Array;
  readonly raw: RawArray | undefined;
}

async function openMetadata(file: MetadataFile & { readonly bytes: Uint8Array }): Promise<OpenedMetadata> {
  const path = file.prefix + fileOf[file.version];
  const metadata = file.version === 2 ? parseZarray(file.bytes, path) : (await import("./zarrJson.js")).parseZarrJson(file.bytes, path);
  const fill = await metadata.fill;
  const { document } = metadata;
  return { ...metadata, fill, raw: document && (await (await import("./rawArray.js")).openRawArray(document, path)) };
}

function arrayOf(
  { name, prefix, version }: MetadataFile,
  { spec, grid, compression, byteOrder, fill, fillIsNull, shard, raw }: OpenedMetadata,
): ZarrArray {
  const stored = { byteOrder, compression, fill, shard, toRowMajor: raw?.toRowMajor };
  return {
    name,
    version,
    spec,
    chunkShape: grid.chunkShape,
    chunkCount: chunkCount(grid),
    chunkByteLength: elementCount(grid.chunkShape) * dtypes[spec.dtype].itemsize,
    codec: compressorOf(compression),
    streamable: isStreamable(stored),
    fillIsNull,
    stored,
    chunks: (box) => chunksOf({ ...grid, keyOf: (indices) => prefix + grid.keyOf(indices) }, box),
  };
}

const fileOf = { 2: ".zarray", 3: "zarr.json" } as const;

/** A file that would hold an array's metadata. */
interface MetadataFile {
  readonly name: string;
  /** What the keys of the array begin with. */
  readonly prefix: string;
  readonly version: keyof typeof fileOf;
  readonly bytes: Uint8Array | undefined;
}

/** Reads all `.zarray`, and then what is missing as `zarr.json`. */
async function readMetadata(storage: ArrayStorage, names: readonly string[], options: MetadataOptions): Promise<MetadataFile[]> {
  const readAll = (keys: readonly string[]) =>
    "readAll" in storage ? storage.readAll(keys, options) : Promise.all(keys.map((key) => storage.read(key, options)));
  // A name that ends with a slash owns the keys right behind it, as TensorStore joins paths.
  const prefixes = names.map(keyPrefix);
  const [likely, other] = options.likely === 3 ? ([3, 2] as const) : ([2, 3] as const);
  const first = await readAll(prefixes.map((prefix) => prefix + fileOf[likely]));
  const missing = prefixes.filter((_, index) => first[index] === undefined);
  const second = missing.length === 0 ? [] : await readAll(missing.map((prefix) => prefix + fileOf[other]));
  let nth = 0;
  return names.map((name, index) => {
    const prefix = prefixes[index] ?? "";
    const bytes = first[index];
    return bytes === undefined ? { name, prefix, version: other, bytes: second[nth++] } : { name, prefix, version: likely, bytes };
  });
}
