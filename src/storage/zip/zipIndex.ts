import type { FileEntry } from "@zip.js/zip.js";
import { isCheckpointError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { checkedEntries } from "./zipEntries.js";
import { zipError } from "./zipErrors.js";

/** Files of a ZIP by path, without the folder that holds all of them. */
export type ZipIndex = ReadonlyMap<string, FileEntry>;

/** The longest central directory that is read: a million entries with paths of 200 bytes. */
const mostEntries = 2 ** 20;

/**
 * Reads and checks a ZIP's central directory.
 * @throws CorruptCheckpointError for what is no ZIP, is damaged or would do harm, UnsupportedCheckpointError for what is not unpacked.
 */
export async function readZipIndex(zip: Blob, mostBytes: number, context: TaskContext): Promise<ZipIndex> {
  const { BlobReader, ZipReader } = await import("@zip.js/zip.js/lib/zip-core-native.js");
  const reader = new ZipReader(new BlobReader(zip), { strictness: "strict", useWebWorkers: false, checkCrc32: true });
  const entries = await understood(
    { path: nameOf(zip), expected: "a whole ZIP file" },
    async () => {
      const found = [];
      for await (const entry of reader.getEntriesGenerator({ filenameValidation: "tolerant" })) {
        context.signal?.throwIfAborted();
        if (found.length === mostEntries) throw new Error(`more than ${mostEntries} entries`);
        found.push(entry);
      }
      return found;
    },
    context.signal,
  );
  const files = checkedEntries(entries, { byteLength: zip.size, mostBytes });
  return withoutOuterFolder(files as ReadonlyMap<string, FileEntry>);
}

/** What zip.js says of a ZIP, or of an entry, that it does not understand is told with its name. */
export async function understood<Value>(
  { path, expected }: { readonly path: string; readonly expected: string },
  work: () => Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  try {
    return await work();
  } catch (cause) {
    signal?.throwIfAborted();
    if (!(cause instanceof Error) || isCheckpointError(cause)) throw cause;
    const reason = "reason" in cause ? String(cause.reason) : "";
    const isSurrounded = /^(?:pre|ap)pended data$/.test(reason);
    const received = isSurrounded
      ? `bytes that do not belong to it, ${reason.startsWith("pre") ? "before" : "after"} it`
      : [cause.message, reason].filter((text) => text !== "").join(": ");
    throw zipError(isSurrounded ? "surrounded" : "damaged", { path, expected, received, cause });
  }
}

/** What errors call it. */
export const nameOf = (zip: Blob): string => ("name" in zip && typeof zip.name === "string" ? zip.name : "the ZIP");

/** Folders that macOS adds. */
const isForeign = (path: string): boolean => path.startsWith("__MACOSX/") || /(?:^|\/)\.DS_Store$/.test(path);

/** What people put beside the folder that they zip. */
const isDocument = (path: string): boolean =>
  /^(?:(?:readme|licen[cs]e|notice)[^/]*|[^/]+\.(?:md|txt|pdf|html?|ya?ml|ipynb|png|jpe?g))$/i.test(path);

/** `zip -r` of a folder has its name in front of everything but documents; a number is a step's. */
function withoutOuterFolder(files: ZipIndex): ZipIndex {
  let paths = new Map([...files].filter(([path]) => !isForeign(path)));
  for (let depth = 0; depth < mostOuterFolders; depth++) {
    const inside = [...paths].filter(([path]) => !isDocument(path));
    const first = inside[0]?.[0] ?? "";
    const folder = first.slice(0, first.indexOf("/") + 1);
    if (folder === "" || /^\d+\/$/.test(folder) || inside.some(([path]) => !path.startsWith(folder))) return paths;
    paths = new Map(inside.map(([path, entry]) => [path.slice(folder.length), entry]));
  }
  return paths;
}

const mostOuterFolders = 32;
