import { type SmallFloat, smallFloats } from "./smallFloats.js";

/**
 * Rounds float32 values, given as their bits, to a small float's codes: to nearest, ties to even.
 * Values beyond the last finite code become infinity, or NaN where the dtype has none, or stay the last code (float4).
 * Source: TensorStore's conversions, down to the bits of a NaN.
 */
export function roundToSmallFloat(bits: Uint32Array, dtype: SmallFloat): Uint8Array | Uint16Array {
  const { exponentBits, mantissaBits, bias, special } = smallFloats[dtype];
  const { lastFinite, beyond } = endsOf(dtype);
  const signShift = 31 - exponentBits - mantissaBits;
  const signBit = 1 << (exponentBits + mantissaBits);
  const drop = 23 - mantissaBits;
  const rebase = (127 - bias) << 23;
  const codes = isTwoBytes(dtype) ? new Uint16Array(bits.length) : new Uint8Array(bits.length);
  for (let index = 0; index < bits.length; index++) {
    const whole = bits[index] ?? 0;
    const magnitude = whole & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      codes[index] = roundNan(whole, dtype);
      continue;
    }
    const exponent = Math.max(magnitude >>> 23, 1);
    const normal = magnitude >= rebase + 0x800000;
    // Below the smallest normal value the whole significand, its leading one included, moves right.
    const significand = normal ? magnitude - rebase : magnitude < 0x800000 ? magnitude : (magnitude & 0x7fffff) | 0x800000;
    const count = normal ? drop : Math.min(drop + 128 - bias - exponent, 31);
    const rounded = (significand + (1 << (count - 1)) - 1 + ((significand >>> count) & 1)) >>> count;
    const code = rounded > lastFinite ? beyond : rounded;
    const unsigned = special === "fnuz" && (code === 0 || code === beyond);
    codes[index] = unsigned ? code : code | ((whole >>> signShift) & signBit);
  }
  return codes;
}

const isTwoBytes = (dtype: SmallFloat): boolean => dtype === "float16" || dtype === "bfloat16";

/** The last finite code and the one for values that round beyond it, both without sign. */
function endsOf(dtype: SmallFloat): { readonly lastFinite: number; readonly beyond: number } {
  const { exponentBits, mantissaBits, special } = smallFloats[dtype];
  const allOnes = (1 << (exponentBits + mantissaBits)) - 1;
  const infinity = ((1 << exponentBits) - 1) << mantissaBits;
  switch (special) {
    case "ieee":
      return { lastFinite: infinity - 1, beyond: infinity };
    case "fn":
      return { lastFinite: allOnes - 1, beyond: allOnes };
    case "fnuz":
      return { lastFinite: allOnes, beyond: allOnes + 1 };
    case "finite":
      return { lastFinite: allOnes, beyond: allOnes };
    case "e8m0":
      throw new RangeError(`no value is rounded to ${dtype}`);
    default:
      return special satisfies never;
  }
}

/** Code of a float32 NaN. Two-byte floats keep the head of its payload and become quiet; float4 has no NaN and takes a zero. */
function roundNan(bits: number, dtype: SmallFloat): number {
  const { exponentBits, mantissaBits, special } = smallFloats[dtype];
  const sign = bits >>> 31;
  if (dtype === "bfloat16") return (bits | 0x200000) >>> 16;
  if (dtype === "float16") return (sign << 15) | 0x7e00 | ((bits & 0x7fffff) >>> 13);
  if (special === "fnuz") return 0x80;
  if (special === "finite") return (1 - sign) << (exponentBits + mantissaBits);
  if (special === "fn") return (sign << 7) | 0x7f;
  return (sign << 7) | (((1 << exponentBits) - 1) << mantissaBits) | (1 << (mantissaBits - 1));
}
