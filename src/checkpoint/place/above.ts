import { isCheckpointError } from "../../errors.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { type CheckpointDirectory, directoryName, requireDirectory, storageOf } from "../directory.js";

/** The place above an address, and the address's own name in it. */
export interface Above {
  readonly name: string;
  /** Names the place above in errors. */
  readonly label: string;
  readonly storage: ReadableStorage;
}

/** What an address stands in; undefined for a storage, which tells nothing of what is above it, and for the topmost folder. */
export function aboveOf(source: CheckpointDirectory): Above | undefined {
  if (typeof source !== "string" && !(source instanceof URL)) return undefined;
  const [, start = "", path = "", query = ""] = /^([^:/?#]+:\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(String(source)) ?? [];
  const [, folder = "", last = ""] = /^(.*?)\/?([^/]+)\/*$/s.exec(path) ?? [];
  if (last === "" || last === "." || last === "..") return undefined;
  const address = `${start}${folder === "" ? "/" : folder}${query}`;
  try {
    requireDirectory(address);
    const storage = storageOf(address);
    return { name: start === "" ? last : decoded(last), label: directoryName(address), storage };
  } catch (error) {
    // Nothing can be opened there, such as an owner without a repository.
    if (isCheckpointError(error, "Value")) return undefined;
    throw error;
  }
}

/** The last part of a place's name, where it has one; `""` else: storages in memory are called something, but nothing's folder. */
export function lastName(source: CheckpointDirectory): string {
  const above = aboveOf(source);
  if (above !== undefined) return above.name;
  const path = ((source as ReadableStorage).name ?? "").replace(/^[^:/]+:\/\/[^/]+/, "");
  return /[/\\]([^/\\]+)[/\\]*$/.exec(path)?.[1] ?? "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
