import { CheckpointValueError } from "../errors.js";
import { type Dtype, dtypes, type HostData } from "./dtypes.js";
import { float32BitsOf, isSmallFloat } from "./smallFloats.js";

/**
 * Values of host data as float32, rounded once to nearest even; `data` itself for float32.
 * @throws CheckpointValueError for complex dtypes.
 */
export function toFloat32(dtype: Dtype, data: HostData): Float32Array {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) return float32OfInt64(data);
  if (isSmallFloat(dtype)) return float32OfBits(float32BitsOf(dtype), data);
  if (dtypes[dtype].kind === "complex") {
    throw new CheckpointValueError(`a ${dtype} array has no float32 values; its data holds pairs, real part first`);
  }
  return data instanceof Float32Array ? data : new Float32Array(data);
}

function float32OfBits(table: Uint32Array, codes: ArrayLike<number>): Float32Array {
  const bits = new Uint32Array(codes.length);
  for (let index = 0; index < bits.length; index++) bits[index] = table[codes[index] ?? 0] ?? 0;
  return new Float32Array(bits.buffer);
}

/**
 * Rounds 64-bit integers once. A double holds 53 of the 64 bits, so the lowest 11 are gathered into one sticky bit, which
 * lies far below the place where float32 rounds.
 */
export function float32OfInt64(data: BigInt64Array | BigUint64Array): Float32Array {
  const low = new Uint32Array(data.buffer, data.byteOffset, data.length * 2);
  const high = data instanceof BigInt64Array ? new Int32Array(data.buffer, data.byteOffset, data.length * 2) : low;
  const values = new Float32Array(data.length);
  for (let index = 0; index < values.length; index++) {
    const top = high[2 * index + 1] ?? 0;
    const bottom = low[2 * index] ?? 0;
    const exact = top >= -0x200000 && top < 0x200000;
    const sticky = (bottom & 0x7ff) === 0 ? 0 : 0x800;
    values[index] = top * 0x100000000 + (exact ? bottom : ((bottom & ~0x7ff) | sticky) >>> 0);
  }
  return values;
}
