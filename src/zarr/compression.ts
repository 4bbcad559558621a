/** The codec that puts a checksum behind the bytes; all others compress. */
export const checksum = "crc32c";

/** What was done to the bytes of a chunk, in this order: compressors by their zarr names, and `"crc32c"`. */
export type Compression = readonly string[];

/** The compressors by name, `"none"` without one. */
export const compressorOf = (compression: Compression): string => compression.filter((name) => name !== checksum).join("+") || "none";

/** Whether the bytes can be decoded as they come. */
export const decodesAsItComes = (compression: Compression): boolean => compression.length <= 1 && compression[0] !== checksum;

/** Whether a name is one of a codec that is read. */
export const isCodec = (name: string): boolean => [checksum, "zstd", "gzip", "zlib", "blosc"].includes(name);
