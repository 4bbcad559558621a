import { type Dtype, dtypes, isNarrowInteger, lowBits } from "../arrays/dtypes.js";
import { CorruptCheckpointError } from "../errors.js";
import type { ByteOrder } from "./dtypeName.js";

/** Where stored bytes come from, for errors: a file, and where in it the chunk begins. */
export interface ChunkPlace {
  readonly path: string;
  readonly offset: number;
}

/**
 * Turns whole stored elements into what memory and buffers hold: little endian, integers below a byte extended from their low
 * bits whatever stands above, float4 in the low nibble. Never writes into `bytes`, which may be cached; where nothing changes it is the answer.
 * @throws CorruptCheckpointError for a bool byte other than 0 and 1.
 */
export function readElements(bytes: Uint8Array, dtype: Dtype, byteOrder: ByteOrder, place: ChunkPlace): Uint8Array {
  const { unit } = dtypes[dtype];
  if (dtype === "bool") checkBools(bytes, place);
  if (isNarrowInteger(dtype)) return new Uint8Array(lowBits(bytes, dtype).buffer);
  if (dtype === "float4_e2m1fn") return bytes.map((byte) => byte & 0x0f);
  return byteOrder === "big" && unit > 1 ? swapped(bytes, unit) : bytes;
}

/** Whether stored elements are the bytes that memory holds. */
export const isStoredAsHeld = (dtype: Dtype, byteOrder: ByteOrder): boolean =>
  dtypes[dtype].bits >= 8 && (byteOrder === "little" || dtypes[dtype].unit === 1);

function checkBools(bytes: Uint8Array, { path, offset }: ChunkPlace): void {
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte > 1) throw new CorruptCheckpointError({ path, offset, expected: "bools of bytes 0 and 1", received: `a byte ${byte}` });
  }
}

function swapped(bytes: Uint8Array, unit: number): Uint8Array {
  const result = new Uint8Array(bytes.length);
  for (let start = 0; start < bytes.length; start += unit) {
    for (let byte = 0; byte < unit; byte++) result[start + byte] = bytes[start + unit - 1 - byte] ?? 0;
  }
  return result;
}
