import { dtypes } from "../../src/arrays/dtypes.js";
import { type HostArray, hostBytes } from "../../src/arrays/hostArray.js";

/** The elements as hexadecimal texts of their bytes, so that NaNs and the signs of zeros count. */
export function hexElements(array: HostArray): string[] {
  const { itemsize } = dtypes[array.dtype];
  const hex = Array.from(hostBytes(array), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.match(new RegExp(`.{${2 * itemsize}}`, "g")) ?? [];
}
