import { httpStorage, OrbaxCheckpointStore } from "orbax-webgpu";
import type { ByteRange } from "../../src/bytes/ranges.js";
import { openOcdbt } from "../../src/ocdbt/open.js";

/** Where a file of the server's has a chunk's bytes. */
export interface ChunkRange extends ByteRange {
  /** Below the URL. */
  readonly path: string;
}

/**
 * The runs of bytes of all chunks of a step that lie outside of the index. Asked for with a query, so that the server can tell these
 * requests from others.
 */
export async function chunkRanges(url: string, step: number): Promise<ChunkRange[]> {
  const { items } = await new OrbaxCheckpointStore(`${url}?ranges`).readMetadata(step);
  const ranges = items.map(async (item) => {
    const folder = `${step}/${item}`;
    const database = await openOcdbt(httpStorage(`${url}/${folder}?ranges`));
    const found: ChunkRange[] = [];
    for await (const key of database?.keys("") ?? []) {
      const location = await database?.locate(key);
      if (location !== undefined && location.inline === undefined) found.push({ path: `${folder}/${location.path}`, ...location.range });
    }
    return found;
  });
  return (await Promise.all(ranges)).flat();
}
