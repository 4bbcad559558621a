import { anything, kindOf, requireArgument, requireOptions } from "../../arguments.js";
import type { Dtype } from "../../arrays/dtypes.js";
import { isDtype } from "../../arrays/dtypes.js";
import { aDtype, aShape } from "../../arrays/specRules.js";
import { CheckpointValueError } from "../../errors.js";
import { placementRules } from "../../gpu/deviceRules.js";

/** Marks what {@link shapeDtypeStruct} made. */
export const structMark: unique symbol = Symbol.for("orbax-webgpu.shapeDtypeStruct") as never;

/** Where and how a leaf is wanted. */
export interface Placement<Device extends GPUDevice | undefined = GPUDevice | undefined> {
  /** Device for the leaf; left out: the restore's, else the store's, else memory. */
  readonly device?: Device;
  /** `GPUBufferUsage` flags; `STORAGE | COPY_SRC | COPY_DST` unless given. */
  readonly usage?: GPUBufferUsageFlags | undefined;
  /** A buffer of the device's to restore into: with `COPY_DST`, and at least the array's bytes rounded up to 4 long. */
  readonly into?: GPUBuffer | undefined;
}

/** An array wanted of a restore: its shape in elements, its dtype, and where it goes. JAX's `ShapeDtypeStruct`. */
export interface ShapeDtypeStruct<Name extends Dtype = Dtype, Device extends GPUDevice | undefined = GPUDevice | undefined>
  extends Placement<Device> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly [structMark]: true;
}

/**
 * Makes a template's leaf.
 * @throws CheckpointValueError for a shape that is no list of non-negative integers, an unknown dtype, or what is no buffer.
 */
export function shapeDtypeStruct<Name extends Dtype, const Device extends GPUDevice | undefined = undefined>(
  shape: readonly number[],
  dtype: Name,
  placement: Placement<Device> = {},
): ShapeDtypeStruct<Name, Device> {
  requireArgument("shapeDtypeStruct's shape", shape, aShape);
  requireArgument("shapeDtypeStruct's dtype", dtype, aDtype);
  requireOptions("shapeDtypeStruct", placement, structRules);
  return { ...placement, shape: [...shape], dtype, [structMark]: true };
}

/** Its device is looked at when it is used: the error names the leaf then. */
const structRules = { ...placementRules, device: anything };

const isShape = (value: unknown): value is readonly number[] => aShape.accepts(value);

/** Deepest tree that is taken, as deep as a stored one may be. */
const deepestTemplate = 512;

/** @throws CheckpointValueError for a tree without end: one that holds itself. */
export function requireDepth(depth: number): void {
  if (depth > deepestTemplate) {
    throw new CheckpointValueError(`a template nests deeper than ${deepestTemplate}; does it hold itself?`);
  }
}

/** A template's leaf, whatever it was given as. */
export type TemplateLeaf = ArrayTemplate | KeyTemplate | PlainTemplate;

/** An array is wanted. */
export interface ArrayTemplate {
  readonly kind: "array";
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  /** `"default"`: the restore's device, else memory. */
  readonly place: "memory" | "default" | GPUDevice;
  readonly usage: GPUBufferUsageFlags | undefined;
  readonly into: GPUBuffer | undefined;
}

/** A typed PRNG key is wanted. */
export interface KeyTemplate {
  readonly kind: "key";
  readonly impl: string;
  readonly data: ArrayTemplate;
}

/** A Python value is wanted; it is not compared. */
export interface PlainTemplate {
  readonly kind: "plain";
  readonly value: boolean | number | bigint | string | object;
}

/**
 * Reads a template's leaf; undefined where the value is a container, or no template at all.
 * @throws CheckpointValueError for an array-like object with a bad shape or dtype.
 */
export function templateLeaf(value: unknown): TemplateLeaf | undefined {
  if (typeof value !== "object" || value === null) return plainLeaf(value);
  if (ArrayBuffer.isView(value) || hidden.test(tagOf(value))) return typedArrayLeaf(value);
  const members = value as Record<PropertyKey, unknown>;
  if (structMark in value) return structLeaf(value as ShapeDtypeStruct);
  if (isShape(members.shape) && typeof members.dtype === "string") {
    if ("buffer" in value && "device" in value) return gpuLeaf(members);
    if (ArrayBuffer.isView(members.data)) return arrayLeaf(members.shape, members.dtype, "memory");
  }
  return keyLeaf(members) ?? complexLeaf(members);
}

const plainLeaf = (value: unknown): PlainTemplate | undefined => {
  switch (typeof value) {
    case "boolean":
    case "number":
    case "bigint":
    case "string":
      return { kind: "plain", value };
    default:
      return undefined;
  }
};

const structLeaf = ({ shape, dtype, device, usage, into }: ShapeDtypeStruct): ArrayTemplate => ({
  ...arrayLeaf(shape, dtype, device ?? "default"),
  usage,
  into,
});

const gpuLeaf = (members: Record<PropertyKey, unknown>): ArrayTemplate => ({
  ...arrayLeaf(members.shape as number[], members.dtype as string, members.device as GPUDevice),
  usage: (members.buffer as GPUBuffer).usage,
});

function arrayLeaf(shape: readonly number[], dtype: string, place: ArrayTemplate["place"]): ArrayTemplate {
  if (!isDtype(dtype))
    throw new CheckpointValueError(`a template has the dtype ${JSON.stringify(dtype)}; use JAX's names, such as "float32"`);
  return { kind: "array", shape, dtype, place, usage: undefined, into: undefined };
}

/** Dtypes of bare TypedArrays, by the names of their classes. */
export const typedArrayDtypes: Readonly<Record<string, Dtype>> = {
  Int8Array: "int8",
  Uint8Array: "uint8",
  Uint8ClampedArray: "uint8",
  Int16Array: "int16",
  Uint16Array: "uint16",
  Int32Array: "int32",
  Uint32Array: "uint32",
  BigInt64Array: "int64",
  BigUint64Array: "uint64",
  Float16Array: "float16",
  Float32Array: "float32",
  Float64Array: "float64",
};

/** What holds something that is none of its members, so that it would pass for an empty container. */
const hidden = /^(Map|Set|Promise|Date|ArrayBuffer)$/;

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice("[object ".length, -1);

function typedArrayLeaf(value: object): ArrayTemplate {
  const dtype = typedArrayDtypes[tagOf(value)];
  if (dtype === undefined)
    throw new CheckpointValueError(
      `${kindOf(value)} is no template; use a TypedArray or shapeDtypeStruct(shape, dtype), in plain objects and lists`,
    );
  return arrayLeaf([(value as Uint8Array).length], dtype, "memory");
}

/** A key is known by its two members, an implementation's name and an array of uint32. */
function keyLeaf(members: Record<PropertyKey, unknown>): KeyTemplate | undefined {
  if (typeof members.impl !== "string" || Object.keys(members).length !== 2) return undefined;
  const data = typeof members.data === "object" ? templateLeaf(members.data) : undefined;
  return data?.kind === "array" ? { kind: "key", impl: members.impl, data } : undefined;
}

function complexLeaf(members: Record<PropertyKey, unknown>): PlainTemplate | undefined {
  const isComplex = typeof members.re === "number" && typeof members.im === "number" && Object.keys(members).length === 2;
  return isComplex ? { kind: "plain", value: members } : undefined;
}
