import sheetjs from "crc-32/crc32c.js";

/** CRC-32C (Castagnoli) of the bytes, as an unsigned 32-bit integer; 0xe3069283 for ASCII `123456789`. */
export const crc32c = (bytes: Uint8Array): number => sheetjs.buf(bytes) >>> 0;
