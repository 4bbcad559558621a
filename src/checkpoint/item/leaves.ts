import type { HostArray } from "../../arrays/hostArray.js";
import type { PrngKey } from "../../arrays/prngKey.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import type { TreeNode } from "../../pytree/tree.js";
import type { ValueType } from "../../pytree/treeMetadata.js";
import type { ZarrArray } from "../../zarr/openArray.js";

/** A Python complex number. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** A Python value: an int is a bigint where a number would not hold it; `null` is `None`. */
export type PlainValue = null | boolean | number | bigint | string | Complex;

/** An array that a restore made, in memory or on a GPU. */
export type RestoredArray = HostArray | GpuArray;

/** A leaf as it comes back. */
export type RestoredLeaf = PlainValue | RestoredArray | PrngKey<HostArray<"uint32"> | GpuArray<"uint32">>;

/** A tree as it comes back without a template: lists for tuples, objects for dicts, namedtuples and dataclasses. */
export type RestoredTree = RestoredLeaf | readonly RestoredTree[] | { readonly [key: string]: RestoredTree };

/** A leaf of a stored tree that has an array in the database. */
export interface ArrayLeaf {
  /** `"scalar"`: a Python number, or a numpy scalar, which comes back as one. */
  readonly kind: "jax.Array" | "np.ndarray" | "scalar";
  /** Keys below the item joined with `/`; `""` for a bare leaf. */
  readonly path: string;
  readonly array: ZarrArray;
  /** Implementation of a typed PRNG key; its array is the key data. */
  readonly keyImpl: string | undefined;
}

/** A string, kept beside the database. */
export interface StringLeaf {
  readonly kind: "string";
  readonly path: string;
  readonly value: string;
}

/** `None`, or a container without children. */
export interface EmptyLeaf {
  readonly kind: "empty";
  readonly path: string;
  readonly valueType: ValueType;
}

/** A leaf of a stored tree. */
export type StoredLeaf = ArrayLeaf | StringLeaf | EmptyLeaf;

/** The tree of a stored item. */
export type StoredTree = TreeNode<StoredLeaf>;

/** What an empty leaf comes back as without a template. */
export const emptyValue = ({ valueType }: EmptyLeaf): null | [] | Record<string, never> => {
  if (valueType === "Dict") return {};
  return valueType === "List" || valueType === "Tuple" ? [] : null;
};
