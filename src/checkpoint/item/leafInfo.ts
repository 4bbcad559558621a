import { type Dtype, dtypes } from "../../arrays/dtypes.js";
import { elementCount } from "../../arrays/spec.js";
import type { StoredLeaf } from "./leaves.js";

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
  /** Shape of a chunk, how many there are, and their compression; undefined for strings. */
  readonly chunkShape?: readonly number[] | undefined;
  readonly chunks?: number | undefined;
  readonly codec?: string | undefined;
}

/**
 * Describes the leaves of a tree; empty nodes are none.
 * @param prefix begins every path, such as the item's name; undefined for none.
 */
export const leafInfos = (leaves: readonly StoredLeaf[], prefix?: string): LeafInfo[] =>
  leaves.flatMap((leaf) => leafInfo(leaf, [prefix, leaf.path].filter(Boolean).join("/")));

function leafInfo(leaf: StoredLeaf, path: string): LeafInfo[] {
  if (leaf.kind === "empty") return [];
  if (leaf.kind === "string") return [{ path, kind: "string", bytes: new TextEncoder().encode(leaf.value).byteLength }];
  const { spec, chunkShape, chunkCount, codec } = leaf.array;
  return [
    {
      path,
      kind: leaf.kind,
      keyImpl: leaf.keyImpl,
      dtype: spec.dtype,
      shape: spec.shape,
      bytes: elementCount(spec.shape) * dtypes[spec.dtype].itemsize,
      chunkShape,
      chunks: chunkCount,
      codec,
    },
  ];
}
