import { kindOf } from "../../arguments.js";
import { castFrom } from "../../arrays/cast.js";
import { type Dtype, dtypes, isDtype, isSavable } from "../../arrays/dtypes.js";
import { hostBytes } from "../../arrays/hostArray.js";
import { elementCount } from "../../arrays/spec.js";
import { compareBytes } from "../../bytes/compare.js";
import { bufferUsage, hasUsage } from "../../gpu/bufferUsage.js";
import { wholeWords } from "../../gpu/limits.js";
import { Refusal } from "../../pytree/flattenTree.js";
import { structMark, typedArrayDtypes } from "../template/template.js";
import { pyFloatValue } from "./saveable.js";

/** Where an array's elements are: in memory, or in a buffer from its first byte. */
export type ArraySource = Uint8Array | { readonly device: GPUDevice; readonly buffer: GPUBuffer };

/** A leaf as it is going to be stored. */
export type SavedLeaf = SavedArray | { readonly kind: "string"; readonly text: string };

/** A leaf that has an array. */
export interface SavedArray {
  readonly kind: "jax.Array" | "np.ndarray" | "scalar";
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  readonly byteLength: number;
  readonly source: ArraySource;
  /** Implementation of a typed PRNG key, whose data the array is. */
  readonly keyImpl?: string;
}

/** How the leaf was stored in the checkpoint that a save is to be like. */
export interface StoredKind {
  readonly kind: "jax.Array" | "np.ndarray" | "scalar" | "string";
  readonly dtype?: Dtype | undefined;
}

/** Reads a leaf of a tree to save; undefined where the value is a container, or nothing that can be saved. Touches no device. */
export function savedLeaf(value: unknown, stored: StoredKind | undefined): SavedLeaf | Refusal | undefined {
  switch (typeof value) {
    case "string":
      return { kind: "string", text: value };
    case "boolean":
      return scalar("bool", Uint8Array.of(value ? 1 : 0));
    case "number":
      return savedNumber(value, stored);
    case "bigint":
      return savedInteger(value, stored);
    default:
      return typeof value === "object" && value !== null ? savedObject(value, stored) : undefined;
  }
}

function savedObject(value: object, stored: StoredKind | undefined): SavedLeaf | Refusal | undefined {
  if (structMark in value) return new Refusal("is a template, which holds no values");
  const float = pyFloatValue(value);
  if (float !== undefined) return savedFloat(float, stored);
  if (ArrayBuffer.isView(value)) return savedView(value, stored);
  const members = value as Record<PropertyKey, unknown>;
  if (Array.isArray(members.shape) && typeof members.dtype === "string") {
    if ("buffer" in value && "device" in value) return savedGpuArray(members, stored);
    if (ArrayBuffer.isView(members.data)) return savedHostArray(members, stored);
  }
  return savedKey(members) ?? savedComplex(members, stored);
}

/** A key is known by its two members, as in a template. */
function savedKey(members: Record<PropertyKey, unknown>): SavedArray | Refusal | undefined {
  const { impl, data } = members;
  if (typeof impl !== "string" || typeof data !== "object" || data === null || Object.keys(members).length !== 2) return undefined;
  const array = savedObject(data, { kind: "jax.Array" });
  if (array instanceof Refusal) return new Refusal(`is a PRNG key whose data ${array.problem}`);
  if (array === undefined || array.kind === "string" || array.kind === "scalar") return undefined;
  if (array.dtype !== "uint32" || array.shape.length === 0)
    return new Refusal(`is a PRNG key whose data is ${specText(array)}; it is uint32, with an axis for each key's words`);
  return { ...array, kind: "jax.Array", keyImpl: impl };
}

function savedView(view: ArrayBufferView, stored: StoredKind | undefined): SavedArray | Refusal {
  const dtype = typedArrayDtypes[tagOf(view)];
  if (dtype === undefined) return new Refusal(`is a ${tagOf(view)}; use a TypedArray`);
  return savedArray([(view as Uint8Array).length], dtype, bytesOf(view), stored);
}

function savedHostArray(members: Record<PropertyKey, unknown>, stored: StoredKind | undefined): SavedArray | Refusal {
  const spec = requireSpec(members);
  if (spec instanceof Refusal) return spec;
  const data = members.data as ArrayBufferView;
  const { host, itemsize } = dtypes[spec.dtype];
  const unit = (data as Uint8Array).BYTES_PER_ELEMENT;
  const expected = elementCount(spec.shape) * itemsize;
  if (unit !== host.BYTES_PER_ELEMENT || data.byteLength !== expected)
    return new Refusal(`is ${specText(spec)}, but its data is ${kindOf(data)} of ${data.byteLength} bytes in place of ${expected}`);
  return savedArray(spec.shape, spec.dtype, bytesOf(data), stored);
}

function savedGpuArray(members: Record<PropertyKey, unknown>, stored: StoredKind | undefined): SavedArray | Refusal {
  const spec = requireSpec(members);
  if (spec instanceof Refusal) return spec;
  const buffer = members.buffer as GPUBuffer;
  const device = members.device as GPUDevice;
  const needed = wholeWords(elementCount(spec.shape) * dtypes[spec.dtype].itemsize);
  if (!hasUsage(buffer.usage, bufferUsage.COPY_SRC)) return new Refusal("is in a buffer without the usage COPY_SRC, which cannot be read");
  if (buffer.size < needed) return new Refusal(`is ${specText(spec)}, for which its buffer of ${buffer.size} bytes needs ${needed}`);
  return savedArray(spec.shape, spec.dtype, { device, buffer }, stored);
}

interface Spec {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
}

function requireSpec({ shape, dtype }: Record<PropertyKey, unknown>): Spec | Refusal {
  const lengths = shape as readonly unknown[];
  if (!lengths.every((length) => Number.isSafeInteger(length) && Number(length) >= 0))
    return new Refusal(`has the shape [${lengths.join(", ")}]; lengths are non-negative integers`);
  if (!isDtype(dtype as string)) return new Refusal(`has the dtype ${JSON.stringify(dtype)}; use JAX's names, such as "float32"`);
  return { shape: [...(lengths as readonly number[])], dtype: dtype as Dtype };
}

/** Arrays of 64 bits are NumPy's, as JAX has none unless it is told to, and all others JAX's. */
function savedArray(shape: readonly number[], dtype: Dtype, source: ArraySource, stored: StoredKind | undefined): SavedArray | Refusal {
  const byteLength = elementCount(shape) * dtypes[dtype].itemsize;
  if (byteLength === 0) return new Refusal(`is ${specText({ shape, dtype })}, an array without elements, which Orbax does not save`);
  if (!isSavable(dtype)) return new Refusal(`is ${specText({ shape, dtype })}, which Orbax neither saves nor restores; save it as uint8`);
  if (!Number.isSafeInteger(byteLength)) return new Refusal(`is ${specText({ shape, dtype })}, which is too large`);
  const isWide = ["float64", "int64", "uint64", "complex128"].includes(dtype);
  const kept = stored?.kind === "jax.Array" || stored?.kind === "np.ndarray" ? stored.kind : undefined;
  return { kind: kept ?? (isWide ? "np.ndarray" : "jax.Array"), shape, dtype, byteLength, source };
}

const scalar = (dtype: Dtype, source: Uint8Array): SavedArray => ({
  kind: "scalar",
  shape: [],
  dtype,
  byteLength: source.byteLength,
  source,
});

function savedNumber(value: number, stored: StoredKind | undefined): SavedArray | Refusal {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return savedFloat(value, stored);
  const dtype = stored?.kind === "scalar" ? stored.dtype : undefined;
  return dtype !== undefined && dtypes[dtype].kind === "float" ? savedFloat(value, stored) : savedInteger(BigInt(value), stored);
}

/** Python floats have 64 bits; a NumPy scalar that comes back as one keeps its dtype where the number fits it exactly. */
function savedFloat(value: number, stored: StoredKind | undefined): SavedArray {
  const bytes = bytesOf(Float64Array.of(value));
  return narrowedScalar("float64", bytes, stored) ?? scalar("float64", bytes);
}

/** The value at the dtype that the stored scalar has, where that is another one of its kind and no bit is lost. */
function narrowedScalar(wide: "float64" | "complex128", bytes: Uint8Array, stored: StoredKind | undefined): SavedArray | undefined {
  const dtype = stored?.kind === "scalar" ? stored.dtype : undefined;
  if (dtype === undefined || dtype === wide || dtypes[dtype].kind !== dtypes[wide].kind) return undefined;
  const narrow = castFrom(wide, dtype)?.(bytes);
  const back = narrow && castFrom(dtype, wide)?.(narrow);
  return narrow && back && compareBytes(back, bytes) === 0 ? scalar(dtype, narrow) : undefined;
}

const integerViews = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
} as const;

function savedInteger(value: bigint, stored: StoredKind | undefined): SavedArray | Refusal {
  const dtype = stored?.kind === "scalar" ? stored.dtype : undefined;
  if (dtype !== undefined && Object.hasOwn(integerViews, dtype)) {
    const view = integerViews[dtype as keyof typeof integerViews].of(Number(value));
    if (BigInt(view[0] ?? 0) === value) return scalar(dtype, bytesOf(view));
  }
  if (BigInt.asUintN(64, value) === value && (dtype === "uint64" || BigInt.asIntN(64, value) !== value))
    return scalar("uint64", bytesOf(BigUint64Array.of(value)));
  if (BigInt.asIntN(64, value) === value) return scalar("int64", bytesOf(BigInt64Array.of(value)));
  return new Refusal("is an integer beyond 64 bits, which Orbax does not save");
}

function savedComplex({ re, im, ...rest }: Record<PropertyKey, unknown>, stored: StoredKind | undefined): SavedArray | undefined {
  if (typeof re !== "number" || typeof im !== "number" || Object.keys(rest).length > 0) return undefined;
  const bytes = bytesOf(Float64Array.of(re, im));
  return narrowedScalar("complex128", bytes, stored) ?? scalar("complex128", bytes);
}

const bytesOf = (view: ArrayBufferView): Uint8Array => hostBytes({ data: view as Uint8Array });

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

const specText = ({ shape, dtype }: Spec): string => `${dtype} of shape [${shape.join(", ")}]`;
