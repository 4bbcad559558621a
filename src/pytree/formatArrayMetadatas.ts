import { formatJson } from "../bytes/formatJson.js";
import type { ArrayMetadata } from "./arrayMetadatas.js";

/** Writes a file of `array_metadatas/` as Orbax does, byte for byte; it lists the `jax.Array`s of an item, in tree order. */
export const formatArrayMetadatas = (arrays: readonly ArrayMetadata[]): string =>
  formatJson({
    array_metadatas: arrays.map(({ paramName, writeShape, chunkShape, randomKeyImpl }) => ({
      array_metadata: {
        param_name: paramName,
        write_shape: [...writeShape],
        chunk_shape: [...chunkShape],
        ext_metadata: randomKeyImpl === undefined ? null : { random_key_impl: randomKeyImpl },
      },
    })),
  });
