import { type Field, i32le, oneOf, only, rawBytes, record, u8, varint32 } from "../../bytes/fields.js";

/** How a database compresses what it writes; what it reads says for itself how it is compressed. */
export type Compression = { readonly method: "none" } | { readonly method: "zstd"; readonly level: number };

/** The configuration of a database, in its manifest. */
export interface OcdbtConfig {
  /** 16 bytes. */
  readonly uuid: Uint8Array;
  /** `"numbered"`: the manifest ends here, and the versions stand in `manifest.<16 hex digits>`. */
  readonly manifestKind: "single" | "numbered";
  /** Longest value that a writer puts into the index, in bytes. */
  readonly maxInlineValueBytes: number;
  /** Size at which a writer splits a node, in bytes. */
  readonly maxDecodedNodeBytes: number;
  /** A version-tree node has up to 2^this children. */
  readonly versionTreeArityLog2: number;
  readonly compression: Compression;
}

/** 1 to 16. */
export const arityLog2: Field<number> = only(u8, "a version tree's arity of 2^1 to 2^16", (value) => value >= 1 && value <= 16);

const method = oneOf(varint32, ["none", "zstd"]);

/** libzstd's range. */
const level = only(i32le, "a zstd level from -131072 to 22", (value) => value >= -131072 && value <= 22);

const compression: Field<Compression> = {
  read: (reader) => (method.read(reader) === "none" ? { method: "none" } : { method: "zstd", level: level.read(reader) }),
  write(writer, value) {
    method.write(writer, value.method);
    if (value.method === "zstd") level.write(writer, value.level);
  },
};

/** The configuration as it stands at the start of a manifest's body. */
export const config: Field<OcdbtConfig> = record<OcdbtConfig>({
  uuid: rawBytes(16),
  manifestKind: oneOf(u8, ["single", "numbered"]),
  maxInlineValueBytes: varint32,
  maxDecodedNodeBytes: varint32,
  versionTreeArityLog2: arityLog2,
  compression,
});
