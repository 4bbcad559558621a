import { parseJsonInTurns } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";
import type { Pace } from "../tasks/pace.js";

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
 * Reads a file of `array_metadatas/`; every process's file lists the same arrays. With rests.
 * @throws CorruptCheckpointError naming what is missing or of the wrong type.
 */
export async function parseArrayMetadatas(bytes: Uint8Array, path: string, pace: Pace): Promise<ArrayMetadata[]> {
  const document = new JsonMember(path, "the file", await parseJsonInTurns(bytes, path, pace));
  const parsed: ArrayMetadata[] = [];
  for (const entry of document.member("array_metadatas").list()) {
    if (pace.dueForSmallStep) await pace.rest();
    const metadata = entry.member("array_metadata");
    parsed.push({
      paramName: metadata.stringAt("param_name"),
      writeShape: metadata.member("write_shape").integers(),
      chunkShape: metadata.member("chunk_shape").integers(),
      randomKeyImpl: metadata.optional("ext_metadata")?.optional("random_key_impl")?.string(),
    });
  }
  return parsed;
}
