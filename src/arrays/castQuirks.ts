import { isIntegerDtype } from "./castToIntegers.js";
import { type Dtype, dtypes, type HostData } from "./dtypes.js";
import { float32BitsOf, isSmallFloat, type SmallFloat } from "./smallFloats.js";

/** Values that TensorStore gives for some codes of a pair's source, beside the rule that its others follow. */
export type CastQuirks = ReadonlyMap<number, bigint>;

/**
 * The few codes that TensorStore converts by another road: infinity and NaN of one-byte floats, which become the integer's
 * limits and 0, and NaNs of their own in two-byte floats; and NaNs of float16, whose head float8_e5m2 keeps.
 */
export function castQuirksOf(from: Dtype, to: Dtype): CastQuirks {
  const quirks = new Map<number, bigint>();
  if (!isSmallFloat(from)) return quirks;
  for (const [code, bits] of float32BitsOf(from).entries()) {
    const magnitude = bits & 0x7fffffff;
    const quirk = magnitude < 0x7f800000 ? undefined : quirkOf(from, to, code, magnitude > 0x7f800000, bits >>> 31);
    if (quirk !== undefined) quirks.set(code, BigInt(quirk));
  }
  return quirks;
}

function quirkOf(from: SmallFloat, to: Dtype, code: number, nan: boolean, sign: number): number | bigint | undefined {
  if (from === "float16" && to === "float8_e5m2" && nan) return (code >>> 8) | 2;
  if (dtypes[from].itemsize !== 1) return undefined;
  if (isIntegerDtype(to)) return to === "bool" ? undefined : nan ? 0 : limitOf(to, sign === 1);
  if (!nan) return undefined;
  if (to === "float16") return from === "float8_e5m2" ? code << 8 : (sign << 15) | 0x7fff;
  return to === "bfloat16" ? (sign << 15) | 0x7fc0 : undefined;
}

/** Where infinity saturates. int2 and int4 take the low bits of int8's limits, uint2 and uint4 those of uint8's. */
function limitOf(to: Dtype, negative: boolean): bigint {
  const { kind, bits } = dtypes[to];
  if (kind === "uint") return negative ? 0n : 2n ** BigInt(bits) - 1n;
  if (bits < 8) return negative ? 0n : -1n;
  return negative ? -(2n ** BigInt(bits - 1)) : 2n ** BigInt(bits - 1) - 1n;
}

/** Writes the quirks of a pair over what its rule gave. `source` are the source's codes. */
export function applyQuirks(quirks: CastQuirks, source: Uint8Array | Uint16Array, cast: HostData): void {
  for (let index = 0; index < source.length; index++) {
    const quirk = quirks.get(source[index] ?? 0);
    if (quirk === undefined) continue;
    if (cast instanceof BigInt64Array || cast instanceof BigUint64Array) cast[index] = quirk;
    else cast[index] = Number(quirk);
  }
}
