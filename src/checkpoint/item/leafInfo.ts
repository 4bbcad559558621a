import { type Dtype, dtypes } from "../../arrays/dtypes.js";
import { elementCount } from "../../arrays/spec.js";
import type { ArrayLeaf, StoredLeaf } from "./leaves.js";

/** A leaf of a checkpoint, known from its index. */
export interface LeafInfo {
  /** Keys joined with `/`; those of a step begin with the item. */
  readonly path: string;
  /** `"scalar"` and `"string"` are Python values. */
  readonly kind: "jax.Array" | "np.ndarray" | "scalar" | "string";
  /** Implementation of a typed PRNG key, whose data the array is. */
  readonly keyImpl?: string | undefined;
  /** Dtype and shape as stored; undefined for strings. */
  readonly dtype?: Dtype | undefined;
  readonly shape?: readonly number[] | undefined;
  /** Bytes of the array in memory; of a string, its length in UTF-8. */
  readonly bytes: number;
  /** Bytes that the array takes where it is stored, compressed; undefined where the index does not tell. */
  readonly storedBytes?: number | undefined;
  /** Shape of a chunk, how many there are, and their compression; undefined for strings. */
  readonly chunkShape?: readonly number[] | undefined;
  readonly chunks?: number | undefined;
  readonly codec?: string | undefined;
}

/** Bytes that arrays take where they are stored. */
export type StoredBytes = ReadonlyMap<StoredLeaf, number>;

/**
 * Describes the leaves of a tree; empty nodes are none.
 * @param prefix begins every path, such as the item's name; `""` for none.
 */
export function leafInfos(leaves: readonly StoredLeaf[], prefix = "", storedBytes: StoredBytes = new Map()): LeafInfo[] {
  const infos: LeafInfo[] = [];
  for (const leaf of leaves) {
    const path = prefix === "" || leaf.path === "" ? prefix + leaf.path : `${prefix}/${leaf.path}`;
    if (leaf.kind === "string") infos.push({ path, kind: "string", bytes: new TextEncoder().encode(leaf.value).byteLength });
    else if (leaf.kind !== "empty") infos.push({ ...arrayInfo(leaf, path), storedBytes: storedBytes.get(leaf) });
  }
  return infos;
}

function arrayInfo({ kind, keyImpl, array }: ArrayLeaf, path: string): LeafInfo {
  const { spec, chunkShape, chunkCount, codec } = array;
  const bytes = elementCount(spec.shape) * dtypes[spec.dtype].itemsize;
  return { path, kind, keyImpl, dtype: spec.dtype, shape: spec.shape, bytes, chunkShape, chunks: chunkCount, codec };
}
