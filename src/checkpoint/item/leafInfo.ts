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
  /** Bytes that the array takes where it is stored, compressed, as far as the index tells; of checkpoints that `openCheckpoint` opened. */
  readonly storedBytes?: number | undefined;
  /** Shape of a chunk, how many there are, and their compression; undefined for strings. */
  readonly chunkShape?: readonly number[] | undefined;
  readonly chunks?: number | undefined;
  readonly codec?: string | undefined;
  /**
   * Paths of other leaves that have the same array: of keys such as `"a.b"` and `"a"` with `"b"` below, Orbax keeps only one, and so they come
   * back alike.
   */
  readonly sharedWith?: readonly string[] | undefined;
}

/** Bytes that arrays take where they are stored. */
export type StoredBytes = ReadonlyMap<StoredLeaf, number>;

/**
 * Describes the leaves of a tree; empty nodes are none.
 * @param prefix begins every path, such as the item's name; `""` for none.
 */
export function leafInfos(leaves: readonly StoredLeaf[], prefix = "", storedBytes: StoredBytes = new Map()): LeafInfo[] {
  const infos: LeafInfo[] = [];
  const within = (path: string) => (prefix === "" || path === "" ? prefix + path : `${prefix}/${path}`);
  const sharing = pathsOfShared(leaves);
  for (const leaf of leaves) {
    const path = within(leaf.path);
    if (leaf.kind === "string") infos.push({ path, kind: "string", bytes: new TextEncoder().encode(leaf.value).byteLength });
    else if (leaf.kind !== "empty") {
      const others = sharing.get(leaf.array.name)?.filter((other) => other !== leaf.path);
      const sharedWith = others && { sharedWith: others.map(within) };
      infos.push({ ...arrayInfo(leaf, path), storedBytes: storedBytes.get(leaf), ...sharedWith });
    }
  }
  return infos;
}

/** Paths of leaves by the array that they share. */
function pathsOfShared(leaves: readonly StoredLeaf[]): ReadonlyMap<string, readonly string[]> {
  const first = new Map<string, string>();
  const shared = new Map<string, string[]>();
  for (const leaf of leaves) {
    if (!("array" in leaf)) continue;
    const { name } = leaf.array;
    const other = first.get(name);
    if (other === undefined) first.set(name, leaf.path);
    else shared.set(name, [...(shared.get(name) ?? [other]), leaf.path]);
  }
  return shared;
}

function arrayInfo({ kind, keyImpl, array }: ArrayLeaf, path: string): LeafInfo {
  const { spec, chunkShape, chunkCount, codec } = array;
  const bytes = elementCount(spec.shape) * dtypes[spec.dtype].itemsize;
  return { path, kind, keyImpl, dtype: spec.dtype, shape: spec.shape, bytes, chunkShape, chunks: chunkCount, codec };
}
