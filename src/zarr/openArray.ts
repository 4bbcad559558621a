import { dtypes } from "../arrays/dtypes.js";
import { type ArraySpec, elementCount } from "../arrays/spec.js";
import { longestJson } from "../bytes/json.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import type { ByteOrder } from "./dtypeName.js";
import { chunkCount, chunksOf, type ZarrChunk } from "./grid.js";
import type { ArrayMetadata } from "./metadata.js";
import { openRawArray } from "./rawArray.js";
import type { ShardLayout } from "./shardIndex.js";
import { parseZarray } from "./zarray.js";
import { parseZarrJson } from "./zarrJson.js";

export type { ZarrChunk } from "./grid.js";

/** A zarr array, known before any of its chunks is read. */
export interface ZarrArray {
  /** Key of the array in the storage; `""` for the storage's root. */
  readonly name: string;
  readonly spec: ArraySpec;
  readonly chunkShape: readonly number[];
  /** Number of chunks; 0 for an array without elements. */
  readonly chunkCount: number;
  /** Bytes of a decoded chunk, the same for all: chunks at the edge are stored whole. */
  readonly chunkByteLength: number;
  /** Name of the compressor, `"none"` without one. */
  readonly codec: string;
  /** Whether a chunk can be decoded from its first byte on; others have to be in memory whole. */
  readonly streamable: boolean;
  /** How stored elements differ from those in memory, for {@link readBlocks} and {@link fillBlocks}. */
  readonly stored: StoredElements;
  /** All chunks in C order, made one by one. */
  chunks(): Iterable<ZarrChunk>;
}

/** How elements lie in a decoded chunk. */
interface StoredElements {
  readonly byteOrder: ByteOrder;
  /** Brings a chunk of another element order into C order. */
  readonly toRowMajor?: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined;
  /** How a chunk is divided further, where it is a shard. */
  readonly shard?: ShardLayout | undefined;
  /** One element, little endian, that chunks which were left out are full of. */
  readonly fill: Uint8Array;
}

/**
 * Opens the array `name` of a storage: zarr v2 (`.zarray`), else v3 (`zarr.json`); `undefined` where there is neither.
 * @throws CorruptCheckpointError for damaged metadata, UnsupportedCheckpointError for what is not read.
 */
export async function openZarrArray(storage: ReadableStorage, name: string, context: TaskContext = {}): Promise<ZarrArray | undefined> {
  // A name that ends with a slash owns the keys right behind it, as TensorStore joins paths.
  const prefix = name === "" || name.endsWith("/") ? name : `${name}/`;
  const metadata = await readMetadata(storage, prefix, context);
  if (metadata === undefined) return undefined;
  const { spec, grid, codec, byteOrder, transposed, fill, shard } = metadata;
  const raw = await openRawArray(metadata.document, `${prefix}${fileOf[metadata.document.zarr_format]}`);
  const chunkShape = shard === undefined ? raw.chunkShape : grid.chunkShape;
  return {
    name,
    spec: { shape: raw.shape, dtype: spec.dtype },
    chunkShape,
    chunkCount: chunkCount(grid),
    chunkByteLength: elementCount(chunkShape) * dtypes[spec.dtype].itemsize,
    codec,
    streamable: !transposed && shard === undefined,
    stored: { byteOrder, fill, shard, toRowMajor: transposed ? raw.toRowMajor : undefined },
    chunks: () => chunksOf(grid),
  };
}

const fileOf = { 2: ".zarray", 3: "zarr.json" } as const;

async function readMetadata(storage: ReadableStorage, prefix: string, { signal }: TaskContext): Promise<ArrayMetadata | undefined> {
  const v2 = await storage.read(prefix + fileOf[2], { longest: longestJson, signal });
  if (v2 !== undefined) return parseZarray(v2, prefix + fileOf[2], prefix);
  const v3 = await storage.read(prefix + fileOf[3], { longest: longestJson, signal });
  return v3 === undefined ? undefined : parseZarrJson(v3, prefix + fileOf[3], prefix);
}
