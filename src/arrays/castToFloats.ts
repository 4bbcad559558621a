import { type CastValues, wordsOf } from "./castValues.js";
import { roundToSmallFloat } from "./roundFloats.js";
import type { SmallFloat } from "./smallFloats.js";
import { toFloat32 } from "./toFloat32.js";

/** Real floats that {@link castToFloats} makes. */
export type FloatDtype = "float64" | "float32" | Exclude<SmallFloat, "float8_e8m0fnu">;

/**
 * Casts to a float, to nearest, ties to even. TensorStore goes to small floats through float32, so integers and float64 are
 * rounded twice; only from float64 to a one-byte float it rounds once. A NaN keeps its sign and as much of its payload as
 * fits, and becomes quiet between float32 and float64. NaNs are made as bits: engines may change one that they handle.
 */
export function castToFloats(values: CastValues, to: FloatDtype): Float64Array | Float32Array | Uint16Array | Uint8Array {
  if (to === "float64") return toFloat64(values);
  const singles = toFloat32(values);
  if (to === "float32") return singles;
  if (values.kind === "doubles" && to !== "float16" && to !== "bfloat16") roundToOdd(values.numbers, singles);
  return roundToSmallFloat(wordsOf(singles), to);
}

function toFloat64(values: CastValues): Float64Array {
  switch (values.kind) {
    case "integers":
      return new Float64Array(values.numbers);
    case "longs":
      return longsToFloat64(values.words, values.signed);
    case "singles":
      return singlesToFloat64(values.numbers, values.bits);
    case "doubles":
      return values.numbers;
    default:
      return values satisfies never;
  }
}

function longsToFloat64(words: Uint32Array, signed: boolean): Float64Array {
  const numbers = new Float64Array(words.length / 2);
  for (let index = 0; index < numbers.length; index++) {
    const high = words[2 * index + 1] ?? 0;
    numbers[index] = (signed ? high | 0 : high) * 2 ** 32 + (words[2 * index] ?? 0);
  }
  return numbers;
}

function singlesToFloat64(singles: Float32Array, bits: Uint32Array): Float64Array {
  const doubles = new Float64Array(singles);
  const words = wordsOf(doubles);
  for (let index = 0; index < bits.length; index++) {
    const single = bits[index] ?? 0;
    if ((single & 0x7fffffff) <= 0x7f800000) continue;
    words[2 * index] = single << 29;
    words[2 * index + 1] = (single & 0x80000000) | 0x7ff80000 | ((single & 0x7fffff) >>> 3);
  }
  return doubles;
}

/** Makes rounded values truncated ones with the last bit set where that lost something, so that rounding them again rounds once. */
function roundToOdd(doubles: Float64Array, singles: Float32Array): void {
  const bits = wordsOf(singles);
  for (let index = 0; index < bits.length; index++) {
    const single = singles[index] ?? 0;
    const double = doubles[index] ?? 0;
    if (single === double || Number.isNaN(single)) continue;
    bits[index] = ((bits[index] ?? 0) - (Math.abs(single) > Math.abs(double) ? 1 : 0)) | 1;
  }
}
