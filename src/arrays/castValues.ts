import { aligned } from "./aligned.js";
import { type Dtype, dtypes, type HostData, type Integers, isNarrowInteger, lowBits } from "./dtypes.js";
import { float32BitsOf, isSmallFloat } from "./smallFloats.js";

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

/** The same memory as 32-bit words. */
export const wordsOf = ({ buffer, byteOffset, byteLength }: HostData): Uint32Array => new Uint32Array(buffer, byteOffset, byteLength / 4);

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
