import type { Dtype } from "./dtypes.js";

/**
 * Layout of each float below 32 bits: bits of exponent and mantissa, the exponent's bias, and which codes are no numbers.
 * `ieee`: exponent all ones is infinity or NaN. `fn`: only all ones is NaN. `fnuz`: only minus zero is NaN. `finite`: none is.
 * `e8m0`: no sign, no zero, all ones is NaN. Source: ml_dtypes, checked against it for every code.
 */
export const smallFloats = {
  float16: { exponentBits: 5, mantissaBits: 10, bias: 15, special: "ieee" },
  bfloat16: { exponentBits: 8, mantissaBits: 7, bias: 127, special: "ieee" },
  float8_e3m4: { exponentBits: 3, mantissaBits: 4, bias: 3, special: "ieee" },
  float8_e4m3fn: { exponentBits: 4, mantissaBits: 3, bias: 7, special: "fn" },
  float8_e4m3fnuz: { exponentBits: 4, mantissaBits: 3, bias: 8, special: "fnuz" },
  float8_e4m3b11fnuz: { exponentBits: 4, mantissaBits: 3, bias: 11, special: "fnuz" },
  float8_e5m2: { exponentBits: 5, mantissaBits: 2, bias: 15, special: "ieee" },
  float8_e5m2fnuz: { exponentBits: 5, mantissaBits: 2, bias: 16, special: "fnuz" },
  float8_e8m0fnu: { exponentBits: 8, mantissaBits: 0, bias: 127, special: "e8m0" },
  float4_e2m1fn: { exponentBits: 2, mantissaBits: 1, bias: 1, special: "finite" },
} as const satisfies Partial<Record<Dtype, FloatFormat>>;

interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  readonly special: "ieee" | "fn" | "fnuz" | "finite" | "e8m0";
}

/** Dtypes whose host data are bits rather than numbers. */
export type SmallFloat = keyof typeof smallFloats;

/** Whether a dtype is a float below 32 bits. */
export const isSmallFloat = (dtype: Dtype): dtype is SmallFloat => Object.hasOwn(smallFloats, dtype);

const tables = new Map<SmallFloat, Uint32Array>();

/**
 * Bits of the float32 that each code of a small float stands for; every code is exact. Codes beyond the dtype's bits (the
 * high nibble of float4) repeat. Made on first use and kept: 256 entries for a byte, 65,536 for two.
 */
export function float32BitsOf(dtype: SmallFloat): Uint32Array {
  const known = tables.get(dtype);
  if (known !== undefined) return known;
  const format: FloatFormat = smallFloats[dtype];
  const table = new Uint32Array(dtype === "float16" || dtype === "bfloat16" ? 65536 : 256);
  for (let code = 0; code < table.length; code++) table[code] = decode(code, format);
  tables.set(dtype, table);
  return table;
}

const number = new Float32Array(1);
const numberBits = new Uint32Array(number.buffer);

function decode(code: number, { exponentBits, mantissaBits, bias, special }: FloatFormat): number {
  if (special === "e8m0") return code === 255 ? quietNan : bitsOf(2 ** (code - bias));
  const magnitude = code & ((1 << (exponentBits + mantissaBits)) - 1);
  const negative = ((code >>> (exponentBits + mantissaBits)) & 1) === 1;
  const exponent = magnitude >>> mantissaBits;
  const mantissa = magnitude & ((1 << mantissaBits) - 1);
  const sign = negative ? 0x80000000 : 0;
  if (special === "ieee" && exponent === (1 << exponentBits) - 1) return (sign | 0x7f800000 | nanPayload(mantissa, mantissaBits)) >>> 0;
  if (special === "fn" && magnitude === (1 << (exponentBits + mantissaBits)) - 1) return (sign | quietNan) >>> 0;
  if (special === "fnuz" && negative && magnitude === 0) return (sign | quietNan) >>> 0;
  const value = exponent === 0 ? mantissa * 2 ** (1 - bias - mantissaBits) : (1 + mantissa / 2 ** mantissaBits) * 2 ** (exponent - bias);
  return (sign | bitsOf(value)) >>> 0;
}

const quietNan = 0x7fc00000;

/** TensorStore keeps the payload of a two-byte float's NaN, and makes every one-byte NaN the quiet one. */
function nanPayload(mantissa: number, mantissaBits: number): number {
  if (mantissa === 0) return 0;
  return mantissaBits >= 7 ? mantissa << (23 - mantissaBits) : quietNan;
}

function bitsOf(value: number): number {
  number[0] = value;
  return numberBits[0] ?? 0;
}
