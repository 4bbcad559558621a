import { type CastValues, wordsOf } from "./castValues.js";

/** The values as float32, each rounded once; the same memory where they are float32 already. */
export function toFloat32(values: CastValues): Float32Array {
  switch (values.kind) {
    case "integers":
      return new Float32Array(values.numbers);
    case "longs":
      return longsToFloat32(values.words, values.signed);
    case "singles":
      return values.numbers;
    case "doubles":
      return doublesToFloat32(values.numbers, values.words);
    default:
      return values satisfies never;
  }
}

/**
 * A double holds 53 of the 64 bits, so the lowest 11 of a large value are gathered into one sticky bit, far below the place
 * where float32 rounds: the sum is exact, and the store into the Float32Array rounds once.
 */
function longsToFloat32(words: Uint32Array, signed: boolean): Float32Array {
  const numbers = new Float32Array(words.length / 2);
  for (let index = 0; index < numbers.length; index++) {
    const word = words[2 * index + 1] ?? 0;
    const high = signed ? word | 0 : word;
    const low = words[2 * index] ?? 0;
    const exact = high >= -0x200000 && high < 0x200000;
    const sticky = (low & 0x7ff) === 0 ? 0 : 0x800;
    numbers[index] = high * 2 ** 32 + (exact ? low : ((low & ~0x7ff) | sticky) >>> 0);
  }
  return numbers;
}

function doublesToFloat32(doubles: Float64Array, words: Uint32Array): Float32Array {
  const singles = new Float32Array(doubles);
  const bits = wordsOf(singles);
  for (let index = 0; index < bits.length; index++) {
    if (((bits[index] ?? 0) & 0x7fffffff) <= 0x7f800000) continue;
    const low = words[2 * index] ?? 0;
    const high = words[2 * index + 1] ?? 0;
    bits[index] = (high & 0x80000000) | 0x7fc00000 | ((high & 0xfffff) << 3) | (low >>> 29);
  }
  return singles;
}
