import { splitFrame } from "../../../codecs/zstd/splitFrame.js";
import type { FileSource } from "../../../storage/fileSource.js";
import type { SplitPart } from "./messages.js";
import type { StoredPart } from "./parts.js";

/** Where a zstd frame of a file can be cut; undefined where it has to stay whole, or the file cannot be read without waiting. */
export function cutFrame(file: FileSource, part: StoredPart): SplitPart[] | undefined {
  const waits: Promise<number>[] = [];
  const read = (offset: number, into: Uint8Array): number => {
    const length = Math.min(into.length, file.byteLength - offset);
    const count = file.at({ offset, length }).read(into.subarray(0, length));
    if (typeof count === "number") return count;
    waits.push(count);
    return 0;
  };
  const found = splitFrame(read, part, part.decodedLength);
  for (const wait of waits) wait.catch(() => undefined);
  return waits.length > 0 ? undefined : found?.parts.map((cut) => ({ ...cut, windowLog: found.windowLog }));
}
