import type { Dtype, HostData } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { PrngKey } from "../../arrays/prngKey.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import type { Complex, RestoredTree } from "../item/leaves.js";
import type { ShapeDtypeStruct } from "./template.js";

/** An array in memory as a template: `HostArray`, or an object with the same three members. */
export interface HostArrayTemplate<Name extends Dtype = Dtype> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly data: HostData<Name>;
}

/** TypedArrays, which stand for arrays of rank 1. */
export type TypedArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

type LeafTemplate =
  | ShapeDtypeStruct
  | GpuArray
  | HostArrayTemplate
  | TypedArray
  | PrngKey<ShapeDtypeStruct | GpuArray | HostArrayTemplate | Uint32Array>
  | null
  | boolean
  | number
  | bigint
  | string
  | Complex;

/** A tree to restore onto; `null` skips the leaf that stands there. */
export type Template = LeafTemplate | readonly Template[] | { readonly [key: string]: Template };

/** Templates by item; an item that is left out, or `null`, comes back as stored. */
export type Templates = { readonly [item: string]: Template };

/** An array on the device of a call, if it has one. */
export type Placed<Name extends Dtype, Device> = [Device] extends [GPUDevice]
  ? GpuArray<Name>
  : [Device] extends [undefined]
    ? HostArray<Name>
    : GpuArray<Name> | HostArray<Name>;

// A struct that names a device goes there; another one takes the device of the restore.
type StructTarget<Own, Device> = [Own] extends [GPUDevice] ? Own : Device;

// Stored typed keys come back as keys onto any uint32 template.
type OrKey<Name extends Dtype, Restored> = [Name] extends ["uint32"]
  ? Restored | PrngKey<Extract<Restored, GpuArray<"uint32"> | HostArray<"uint32">>>
  : Restored;

type DtypeOfTypedArray<Data extends TypedArray> = Data extends Int8Array
  ? "int8"
  : Data extends Uint8Array | Uint8ClampedArray
    ? "uint8"
    : Data extends Int16Array
      ? "int16"
      : Data extends Uint16Array
        ? "uint16"
        : Data extends Int32Array
          ? "int32"
          : Data extends Uint32Array
            ? "uint32"
            : Data extends BigInt64Array
              ? "int64"
              : Data extends BigUint64Array
                ? "uint64"
                : Data extends Float32Array
                  ? "float32"
                  : "float64";

/**
 * What a template comes back as; `Device` is the device of the restore, if it has one. A Python value is not compared with its template:
 * the type is that of the template, the value the stored one.
 */
export type Restored<T, Device = undefined> = [Template] extends [T] ? RestoredTree : RestoredAs<T, Device>;

type RestoredAs<T, Device> =
  T extends ShapeDtypeStruct<infer Name, infer Own>
    ? OrKey<Name, Placed<Name, StructTarget<Own, Device>>>
    : T extends GpuArray<infer Name>
      ? OrKey<Name, GpuArray<Name>>
      : T extends HostArrayTemplate<infer Name>
        ? OrKey<Name, HostArray<Name>>
        : T extends TypedArray
          ? OrKey<DtypeOfTypedArray<T>, HostArray<DtypeOfTypedArray<T>>>
          : T extends PrngKey<infer Data>
            ? PrngKey<KeyData<Data, Device>>
            : T extends null
              ? null
              : T extends number
                ? number
                : T extends bigint
                  ? bigint | number
                  : T extends boolean
                    ? boolean
                    : T extends string
                      ? string
                      : T extends Complex
                        ? Complex
                        : { [Key in keyof T]: Restored<T[Key], Device> };

/** Whether a restore gives all of the template, or may leave leaves out. */
export type Extent = "whole" | "part";

/** As {@link Restored}, where leaves may be left out: members of an object are not there then, places of a list are `null`. */
export type PartlyRestored<T, Device = undefined> = [Template] extends [T] ? RestoredTree : PartlyRestoredAs<T, Device>;

type PartlyRestoredAs<T, Device> = T extends LeafTemplate
  ? Restored<T, Device>
  : T extends readonly unknown[]
    ? { [Key in keyof T]: PartlyRestored<T[Key], Device> | null }
    : { [Key in keyof T]?: PartlyRestored<T[Key], Device> };

/** What a template comes back as, in whole or in part; `null` stands for no template. */
export type RestoredBy<T, Device, Of extends Extent> = [T] extends [null]
  ? RestoredTree
  : Of extends "whole"
    ? Restored<T, Device>
    : PartlyRestored<T, Device>;

type KeyData<Data, Device> =
  Data extends ShapeDtypeStruct<infer _Name, infer Own>
    ? Placed<"uint32", StructTarget<Own, Device>>
    : Data extends GpuArray
      ? GpuArray<"uint32">
      : HostArray<"uint32">;

/** Items by name: with the templates' types where there are templates, else as stored. */
export type RestoredItemsOf<T extends Templates, Device = undefined, Of extends Extent = "whole"> = ItemsOf<T, Device, Of> & {
  readonly [Item in Exclude<ItemName, keyof T>]?: RestoredTree;
};

// Items without a leaf that is asked for are left out.
type ItemsOf<T extends Templates, Device, Of extends Extent> = Of extends "whole"
  ? { readonly [Item in keyof T]: RestoredBy<T[Item], Device, Of> }
  : { readonly [Item in keyof T]?: RestoredBy<T[Item], Device, Of> };

/** One of the five items of substrax's format. */
export type ItemName = "model" | "optimizer" | "rng" | "data_iterator" | "extensions";
