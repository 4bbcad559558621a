import { type Dtype, dtypes } from "../arrays/dtypes.js";

/**
 * Turns elements as memory and buffers hold them into what is stored: bools as 0 and 1, and nothing above the bits of integers below a
 * byte and float4, as TensorStore writes them. Never writes into `bytes`; where nothing changes it is the answer.
 */
export function writeElements(bytes: Uint8Array, dtype: Dtype): Uint8Array {
  const { bits, itemsize } = dtypes[dtype];
  if (dtype === "bool") return bytes.map((byte) => (byte === 0 ? 0 : 1));
  return bits < 8 * itemsize ? bytes.map((byte) => byte & (2 ** bits - 1)) : bytes;
}
