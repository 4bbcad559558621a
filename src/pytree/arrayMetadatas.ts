import { parseJson } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";

/** What Orbax records of one `jax.Array` beside its zarr metadata. */
export interface ArrayMetadata {
  readonly paramName: string;
  /** Shapes in elements of the piece one writer wrote, and of a chunk. */
  readonly writeShape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Implementation of a typed PRNG key, such as `threefry2x32`: the only mark that the array is one. */
  readonly randomKeyImpl?: string | undefined;
}

/**
 * Reads a file of `array_metadatas/`; every process's file lists the same arrays.
 * @throws CorruptCheckpointError naming what is missing or of the wrong type.
 */
export function parseArrayMetadatas(bytes: Uint8Array, path: string): ArrayMetadata[] {
  const document = new JsonMember(path, "the file", parseJson(bytes, path));
  return document
    .member("array_metadatas")
    .list()
    .map((entry) => {
      const metadata = entry.member("array_metadata");
      return {
        paramName: metadata.stringAt("param_name"),
        writeShape: metadata.member("write_shape").integers(),
        chunkShape: metadata.member("chunk_shape").integers(),
        randomKeyImpl: metadata.optional("ext_metadata")?.optional("random_key_impl")?.string(),
      };
    });
}
