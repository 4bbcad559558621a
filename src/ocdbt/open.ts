import { type ByteRange, endOf } from "../bytes/ranges.js";
import { CorruptCheckpointError, StorageError, UnsupportedCheckpointError } from "../errors.js";
import type { LocatedStorage, PacedContext, RangeLocation, ReadAllOptions } from "../storage/located.js";
import { requireRange } from "../storage/paths.js";
import type { ReadableStorage, ReadOptions, StorageListing } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { locateData, readData, streamData } from "./dataFiles.js";
import { findVersion } from "./findVersion.js";
import { keyBytes } from "./keyBytes.js";
import { openManifest } from "./openManifest.js";
import { type FoundValue, TreeReader } from "./treeReader.js";

/** An opened database is a storage, the paths of which are its keys. */
export interface OcdbtDatabase extends ReadableStorage, LocatedStorage {
  /** Where a key's value is, without reading it; `undefined` where there is no such key. */
  locate(key: string, context?: TaskContext): Promise<RangeLocation | undefined>;
  locateAll(keys: readonly string[], context?: PacedContext): Promise<readonly (RangeLocation | undefined)[]>;
  /** All keys that begin with the prefix, in the order of their bytes. */
  keys(prefix: string, context?: TaskContext): AsyncIterable<string>;
}

/** How {@link openOcdbt} opens a database. */
export interface OcdbtOptions {
  /** The version to read; the current one where it is left out. */
  readonly generation?: bigint | undefined;
  /** About the memory of the index that is kept besides its root, in bytes; 32 MiB by default. */
  readonly nodeCacheBytes?: number | undefined;
}

/**
 * Opens the OCDBT database in the storage's root: manifest, then nodes as they are needed. `undefined` where there is no
 * `manifest.ocdbt`. What it read of the manifest stays valid for as long as the database is used.
 * @throws CorruptCheckpointError for a damaged manifest, CheckpointValueError for a generation that is not there.
 */
export async function openOcdbt(
  storage: ReadableStorage,
  { generation, nodeCacheBytes = 32 * 1024 * 1024 }: OcdbtOptions = {},
  context: TaskContext = {},
): Promise<OcdbtDatabase | undefined> {
  const manifest = await openManifest(storage, context);
  if (manifest === undefined) return undefined;
  const version = await findVersion(storage, manifest, generation, context);
  return databaseOf(storage, new TreeReader(storage, version, nodeCacheBytes));
}

function databaseOf(storage: ReadableStorage, tree: TreeReader): OcdbtDatabase {
  const locateAll = async (keys: readonly string[], context: PacedContext = {}) => {
    const found = await tree.findAll(keys.map(keyBytes), context);
    return found.map((entry) => entry && locationOf(storage, entry));
  };
  const locate = async (key: string, context: TaskContext = {}) => (await locateAll([key], context))[0];
  return {
    name: storage.name,
    locate,
    locateAll,
    readAll: async (keys, options = {}) => readLocated(keys, await locateAll(keys, options), options),
    keys: (prefix, context = {}) => keysOf(tree, prefix, context),
    list: (prefix, options = {}) => listOf(keysOf(tree, prefix, options), prefix),
    read: async (key, options = {}) => {
      const location = await locate(key, options);
      return location && readValue(key, location, options);
    },
    async *stream(key, range, options = {}) {
      const location = await locate(key, options);
      if (location === undefined) throw new StorageError({ path: key, reason: "length", message: "there is no such key in the database" });
      yield* streamValue(key, location, range, options);
    },
  };
}

function locationOf(storage: ReadableStorage, { value, origin }: FoundValue): RangeLocation {
  const { path, offset } = origin;
  if (value.kind === "inline") return { storage, path, range: { offset, length: value.bytes.length }, inline: value.bytes };
  // No file is opened for an empty value: it need not exist.
  if (value.length === 0n) return { storage, path, range: { offset, length: 0 }, inline: new Uint8Array() };
  const location = locateData(origin, value);
  return { storage, path: location.path, range: location.range };
}

/** Only values that lie in data files take a promise each. */
async function readLocated(
  keys: readonly string[],
  locations: readonly (RangeLocation | undefined)[],
  { longest = Number.POSITIVE_INFINITY, signal }: ReadAllOptions,
): Promise<(Uint8Array | undefined)[]> {
  const values = locations.map((location) => location?.inline);
  const readOne = async ({ storage, path, range }: RangeLocation, index: number) => {
    if (range.length > longest) {
      const expected = `a value of at most ${longest} bytes for key ${JSON.stringify(keys[index])}`;
      throw new CorruptCheckpointError({ path, offset: range.offset, expected, received: `${range.length}` });
    }
    values[index] = await readData(storage, path, range, { signal });
  };
  const reads: Promise<void>[] = [];
  for (const [index, location] of locations.entries()) {
    if (location !== undefined && location.inline === undefined) reads.push(readOne(location, index));
  }
  await Promise.all(reads);
  return values;
}

async function readValue(key: string, location: RangeLocation, { range, signal }: ReadOptions): Promise<Uint8Array> {
  const { storage, path, inline } = location;
  const wanted = rangeWithin(key, location, range);
  // A copy, so that a caller who keeps a small value does not keep its whole node.
  if (inline !== undefined) return inline.slice(wanted.offset - location.range.offset, endOf(wanted) - location.range.offset);
  return readData(storage, path, wanted, { signal });
}

async function* streamValue(key: string, location: RangeLocation, range: ByteRange, context: TaskContext): AsyncGenerator<Uint8Array> {
  if (location.inline !== undefined) yield await readValue(key, location, { range, signal: context.signal });
  else yield* streamData(location.storage, location.path, rangeWithin(key, location, range), context);
}

/** The part of the value as a part of its file. */
function rangeWithin(key: string, { range: value }: RangeLocation, range: ByteRange | undefined): ByteRange {
  if (range === undefined) return value;
  requireRange(range);
  if (endOf(range) > value.length) {
    const message = `the value has ${value.length} bytes, but bytes ${range.offset} to ${endOf(range)} were asked for`;
    throw new StorageError({ path: key, reason: "length", message });
  }
  return { offset: value.offset + range.offset, length: range.length };
}

async function* keysOf(tree: TreeReader, prefix: string, context: TaskContext): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for await (const keys of tree.keysWithin(new TextEncoder().encode(prefix), context)) for (const key of keys) yield textOf(decoder, key);
}

function textOf(decoder: TextDecoder, key: Uint8Array): string {
  try {
    return decoder.decode(key);
  } catch (cause) {
    const hex = Array.from(key.subarray(0, 32), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    throw new UnsupportedCheckpointError(`the database has a key that is not UTF-8 (${hex}); Orbax writes none such`, { cause });
  }
}

async function listOf(keys: AsyncIterable<string>, prefix: string): Promise<StorageListing> {
  const files = new Set<string>();
  const directories = new Set<string>();
  for await (const key of keys) {
    const [name = "", ...below] = key.slice(prefix.length).split("/", 2);
    if (name !== "") (below.length === 0 ? files : directories).add(name);
  }
  return { files: [...files], directories: [...directories] };
}
