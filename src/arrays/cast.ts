import { aligned } from "./aligned.js";
import { applyQuirks, castQuirksOf } from "./castQuirks.js";
import { castToFloats } from "./castToFloats.js";
import { castToIntegers, isIntegerDtype } from "./castToIntegers.js";
import { readValues, wordsOf } from "./castValues.js";
import { canCast, type Dtype, isComplex } from "./dtypes.js";

/** Casts whole little-endian elements; the answer is fresh memory, little endian. */
export type Cast = (bytes: Uint8Array) => Uint8Array;

/**
 * The cast of a pair of dtypes with TensorStore's values, bit for bit; undefined where {@link canCast} says no. Of a complex number only the
 * real part goes to a real dtype. {@link castToIntegers} says what stands where C++ leaves a value undefined.
 */
export function castFrom(from: Dtype, to: Dtype): Cast | undefined {
  if (from === to) return (bytes) => bytes.slice();
  if (isComplex(from) && isComplex(to)) return castFrom(parts[from], parts[to]);
  if (!canCast(from, to) || to === "float8_e8m0fnu") return undefined;
  const part = isComplex(to) ? parts[to] : to;
  const quirks = castQuirksOf(from, part);
  return (bytes) => {
    const values = readValues(from, bytes);
    const cast = isIntegerDtype(part) ? castToIntegers(values, part) : castToFloats(values, part);
    if (quirks.size > 0) applyQuirks(quirks, from === "float16" ? new Uint16Array(...aligned(bytes, 2)) : bytes, cast);
    const result = isComplex(to) ? withZeros(wordsOf(cast), to) : cast;
    return new Uint8Array(result.buffer, result.byteOffset, result.byteLength);
  };
}

const parts = { complex64: "float32", complex128: "float64" } as const;

/** Real parts with an imaginary part of zero after each, as words. */
function withZeros(words: Uint32Array, to: keyof typeof parts): Uint32Array {
  const pairs = new Uint32Array(words.length * 2);
  const run = to === "complex64" ? 1 : 2;
  for (let index = 0; index < words.length; index++) pairs[2 * index - (index % run)] = words[index] ?? 0;
  return pairs;
}
