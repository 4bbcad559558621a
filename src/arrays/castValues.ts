import { type Dtype, dtypes, type HostData } from "./dtypes.js";
import { float32BitsOf, isSmallFloat } from "./smallFloats.js";

/** Numbers of up to 32 bits. */
export type Integers = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/**
 * Values on their way from one dtype to another, in the narrowest form that holds them all exactly: integers of up to
 * 32 bits (bool too), 64-bit integers, float32 or float64. `words` and `bits` are the same memory as 32-bit words, low first.
 */
export type CastValues =
  | { readonly kind: "integers"; readonly numbers: Integers }
  | { readonly kind: "longs"; readonly words: Uint32Array; readonly signed: boolean }
  | { readonly kind: "singles"; readonly numbers: Float32Array; readonly bits: Uint32Array }
  | { readonly kind: "doubles"; readonly numbers: Float64Array; readonly words: Uint32Array };

/** Reads whole little-endian elements; of a complex number its real part, as TensorStore does. */
export function readValues(dtype: Dtype, bytes: Uint8Array): CastValues {
  const { unit, host, kind } = dtypes[dtype];
  const data: HostData = new host(...aligned(kind === "complex" ? realParts(bytes, unit) : bytes, unit));
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    return { kind: "longs", words: wordsOf(data), signed: data instanceof BigInt64Array };
  }
  if (data instanceof Float64Array) return { kind: "doubles", numbers: data, words: wordsOf(data) };
  if (data instanceof Float32Array) return { kind: "singles", numbers: data, bits: wordsOf(data) };
  if (isSmallFloat(dtype)) return smallFloatValues(float32BitsOf(dtype), data);
  return { kind: "integers", numbers: isNarrowInteger(dtype) ? lowBits(data, dtype) : data };
}

/** Arguments for a TypedArray of `unit` bytes an element over the bytes; they are copied where they are not aligned. */
export function aligned(bytes: Uint8Array, unit: number): [buffer: ArrayBuffer, byteOffset: number, length: number] {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  return [buffer as ArrayBuffer, byteOffset, byteLength / unit];
}

/** The same memory as 32-bit words. */
export const wordsOf = ({ buffer, byteOffset, byteLength }: HostData): Uint32Array => new Uint32Array(buffer, byteOffset, byteLength / 4);

/** Integers below a byte. */
export type NarrowInteger = "int2" | "int4" | "uint2" | "uint4";

/** Whether a dtype's integers are below a byte. */
export const isNarrowInteger = (dtype: Dtype): dtype is NarrowInteger => ["int2", "int4", "uint2", "uint4"].includes(dtype);

/** Integers with what stands above the low bits of the dtype replaced: by the sign, or by zeros where it has none. */
export function lowBits(data: Integers, dtype: NarrowInteger): Int8Array | Uint8Array {
  const { bits, kind, host } = dtypes[dtype];
  const narrow = new host(data.length);
  const shift = 32 - bits;
  if (kind === "int") for (let index = 0; index < narrow.length; index++) narrow[index] = ((data[index] ?? 0) << shift) >> shift;
  else for (let index = 0; index < narrow.length; index++) narrow[index] = ((data[index] ?? 0) << shift) >>> shift;
  return narrow;
}

function smallFloatValues(table: Uint32Array, codes: Integers): CastValues {
  const bits = new Uint32Array(codes.length);
  for (let index = 0; index < bits.length; index++) bits[index] = table[codes[index] ?? 0] ?? 0;
  return { kind: "singles", numbers: new Float32Array(bits.buffer), bits };
}

/** Every other run of `unit` bytes. */
function realParts(bytes: Uint8Array, unit: number): Uint8Array {
  const parts = new Uint8Array(bytes.byteLength / 2);
  for (let at = 0; at < parts.byteLength; at++) parts[at] = bytes[at + at - (at % unit)] ?? 0;
  return parts;
}
