import { isJsonObject, type JsonObject, parseJson } from "../../bytes/json.js";
import type { FileFacts, StorageListing } from "../storage.js";

/** What a mirror's folder says of itself. */
export interface MirrorRecord {
  /** What the source calls itself. */
  readonly source: string;
  /** Stands for one state of the source; files of other epochs count for nothing. */
  readonly epoch: string;
}

/** What a mirror knows of one of the source's files, beside its bytes. */
export interface FileRecord extends FileFacts {
  readonly path: string;
  readonly epoch: string;
  /** Begins the names of its extents, which are of this version alone; undefined where the source has no such file. */
  readonly id?: string | undefined;
}

const format = 1;

/** A record as a file. */
export const formatRecord = (record: MirrorRecord | FileRecord | ListRecord): Uint8Array =>
  new TextEncoder().encode(JSON.stringify({ format, ...record }));

/** The folder's record out of its file; undefined for what is none. */
export function parseMirrorRecord(bytes: Uint8Array | undefined): MirrorRecord | undefined {
  const { source, epoch } = membersOf(bytes);
  return isText(source) && isText(epoch) ? { source, epoch } : undefined;
}

/** A file's record out of its file; undefined for what is none. */
export function parseFileRecord(bytes: Uint8Array | undefined): FileRecord | undefined {
  const { path, epoch, id, etag, modified, size } = membersOf(bytes);
  if (!isText(path) || !isText(epoch)) return undefined;
  return {
    path,
    epoch,
    id: isText(id) ? id : undefined,
    etag: isText(etag) ? etag : undefined,
    modified: isText(modified) ? modified : undefined,
    size: Number.isSafeInteger(size) && Number(size) >= 0 ? Number(size) : undefined,
  };
}

/** What stood below a prefix when it was listed last. */
export interface ListRecord extends StorageListing {
  readonly prefix: string;
}

/** A list's record out of its file; undefined for what is none. */
export function parseListRecord(bytes: Uint8Array | undefined): ListRecord | undefined {
  const { prefix, files, directories } = membersOf(bytes);
  return isText(prefix) && isTexts(files) && isTexts(directories) ? { prefix, files, directories } : undefined;
}

/** None where it is of another format, or damaged. */
function membersOf(bytes: Uint8Array | undefined): JsonObject {
  if (bytes === undefined) return {};
  try {
    const value = parseJson(bytes, "");
    return isJsonObject(value) && value.format === format ? value : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** 16 hexadecimal digits that nobody else has. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
