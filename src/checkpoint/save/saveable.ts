import { aNumber, requireArgument } from "../../arguments.js";
import type { Dtype } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { PrngKey } from "../../arrays/prngKey.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import type { PlainValue } from "../item/leaves.js";
import type { HostArrayTemplate, ItemName, TypedArray } from "../template/restoredTypes.js";

/** An array in a GPU buffer: a `GpuArray`, or an object with the same four members around a buffer of the caller's own, with COPY_SRC. */
export type GpuArrayLike = Pick<GpuArray, "shape" | "dtype" | "buffer" | "device">;

const floatMark: unique symbol = Symbol.for("orbax-webgpu.pyFloat") as never;

/** A Python float, made by {@link pyFloat}. */
export interface PyFloat {
  readonly [floatMark]: number;
}

/**
 * A number that is saved as a Python float also where it is whole, as 2 is; others are floats anyway.
 * @throws CheckpointValueError for what is no number.
 */
export function pyFloat(value: number): PyFloat {
  requireArgument("what pyFloat takes", value, aNumber);
  return { [floatMark]: value };
}

/** The number of a {@link PyFloat}; undefined for anything else. */
export const pyFloatValue = (value: object): number | undefined => (floatMark in value ? (value as PyFloat)[floatMark] : undefined);

/** What a save takes as a leaf. A bare TypedArray is an array of rank 1; `null` is `None`. */
export type SaveableLeaf =
  | PlainValue
  | PyFloat
  | HostArray<Dtype>
  | HostArrayTemplate
  | GpuArrayLike
  | TypedArray
  | PrngKey<HostArray<"uint32"> | HostArrayTemplate<"uint32"> | (GpuArrayLike & { readonly dtype: "uint32" }) | Uint32Array>;

/** A tree that can be saved: leaves in arrays and plain objects. */
export type Saveable = SaveableLeaf | readonly Saveable[] | { readonly [key: string]: Saveable };

/** The items of a step to save, by name; at least one. */
export type SaveableItems = { readonly [Item in ItemName]?: Saveable };
