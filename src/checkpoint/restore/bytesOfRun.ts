import type { ByteRange } from "../../bytes/ranges.js";
import { type BodyKeeper, keptStreamOf } from "../../storage/keptStream.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { absentFileError, streamPieceLength, streamRange } from "../../storage/streamRange.js";
import type { TaskContext } from "../../tasks/context.js";

/**
 * A range in pieces. One that is as short as a piece is read whole: more can be done then about servers that misbehave.
 * @param keeper has the bytes, where the storage can leave them with it: pieces are stand-ins then.
 */
export async function* bytesOfRun(
  storage: ReadableStorage,
  path: string,
  range: ByteRange,
  context: TaskContext,
  keeper?: BodyKeeper,
): AsyncGenerator<Uint8Array> {
  if (range.length > streamPieceLength) {
    const kept = keeper && keptStreamOf(storage)?.(path, range, { keeper, signal: context.signal });
    return yield* kept ?? streamRange(storage, path, range, context);
  }
  const bytes = await storage.read(path, { range, signal: context.signal });
  if (bytes === undefined) throw absentFileError(path, range);
  yield bytes;
}
