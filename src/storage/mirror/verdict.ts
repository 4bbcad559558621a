import { endOf } from "../../bytes/ranges.js";
import { isCheckpointError } from "../../errors.js";
import { factsDifference } from "../fileFacts.js";
import type { FileFacts, ReadableStorage } from "../storage.js";
import { cutRange } from "./extents.js";
import { isUnanswered } from "./failures.js";
import type { KeptFile } from "./keptFile.js";

/**
 * How a kept file stands to the source's: the same, as far as can be told; changed; other, where it is there on one side only; unanswered,
 * where the source cannot be asked.
 */
export type Verdict = "same" | "changed" | "other" | "unanswered";

/** Most bytes of a file that is fetched again to be compared, where the source tells nothing else of its version. */
const longestCompared = 256 * 1024;

/** How long a source may think before it counts as unreachable, in milliseconds: a network may be there and lead nowhere. */
const longestWait = 10_000;

// OCDBT names a data file at random and never writes it again, so that its name is its version.
const isImmutable = (path: string) => /(^|\/)d\/[0-9a-f]{32}$/.test(path);

/** Compares what is kept of a file, which has a record, with the source, by as few bytes as it takes. */
export async function verdictOf(source: ReadableStorage, kept: KeptFile, signal: AbortSignal): Promise<Verdict> {
  const { record, path } = kept;
  if (record?.id !== undefined && isImmutable(path)) return "same";
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(longestWait)]);
    const facts = source.facts ? await source.facts(path, { signal: limited }) : {};
    if (record?.id === undefined) return facts !== undefined && (await isThere(source, path, facts, limited)) ? "other" : "same";
    if (facts === undefined) return "other";
    if (factsDifference(record, facts) !== undefined) return "changed";
    return tellsVersion(record, facts) ? "same" : await comparison(source, kept, limited);
  } catch (error) {
    signal.throwIfAborted();
    // Whatever else it answers, such as that a sign-in is needed, says nothing of the bytes.
    return isUnanswered(error) || !isCheckpointError(error) ? "unanswered" : "same";
  }
}

/** Where the source tells nothing of a file, its bytes have to. */
const isThere = async (source: ReadableStorage, path: string, facts: FileFacts, signal: AbortSignal): Promise<boolean> =>
  Object.values(facts).some((fact) => fact !== undefined) || (await readShort(source, path, 1, signal)) !== undefined;

/** True where both tell something that another version would tell otherwise. */
const tellsVersion = (record: FileFacts, facts: FileFacts): boolean =>
  (record.etag !== undefined && facts.etag !== undefined) || (record.modified !== undefined && facts.modified !== undefined);

async function comparison(source: ReadableStorage, kept: KeptFile, signal: AbortSignal): Promise<Verdict> {
  const bytes = await wholeOf(kept);
  if (bytes === undefined) return "same";
  const now = await readShort(source, kept.path, bytes.length, signal);
  // A page in the file's place, as of a network that wants a sign-in first, says nothing of the file.
  if (now === undefined) return source.facts ? "same" : "other";
  return now !== "longer" && now.length === bytes.length && now.every((byte, index) => byte === bytes[index]) ? "same" : "changed";
}

/** A whole file, or that it is longer than that. */
const readShort = (source: ReadableStorage, path: string, longest: number, signal: AbortSignal) =>
  source.read(path, { longest, signal }).catch((error: unknown) => {
    if (isCheckpointError(error, "Storage") && error.reason === "length") return "longer" as const;
    throw error;
  });

/** A file that is all there and short enough to be compared. */
async function wholeOf(kept: KeptFile): Promise<Uint8Array | undefined> {
  const size = kept.record?.size;
  if (size === undefined || size > longestCompared || !kept.isComplete) return undefined;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const { extent, ...piece } of cutRange({ offset: 0, length: size }, kept.extents)) {
    if (extent === undefined) return undefined;
    for await (const part of kept.pieces(piece, extent)) {
      bytes.set(part, at);
      at += part.length;
    }
    if (at < endOf(piece)) return undefined;
  }
  return bytes;
}
