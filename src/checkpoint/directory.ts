import { aText, orNull, requireArgument } from "../arguments.js";
import { CheckpointValueError } from "../errors.js";
import { checkedStorage } from "../storage/checked.js";
import { isWebAddress } from "../storage/hosts/address.js";
import { httpStorage } from "../storage/http.js";
import { locksOf } from "../storage/locks/locksOf.js";
import { opfsStorage } from "../storage/opfs.js";
import type { ReadableStorage } from "../storage/storage.js";
import { aStorage, isWritable } from "../storage/writable.js";
import { opfsScheme, requireScheme } from "./addressScheme.js";
import type { WritableRoot } from "./save/writableRoot.js";

/**
 * Where a store's steps lie: an `http(s):` URL or a `gs:`, `s3:` or `hf:` address, a folder's path in the browser's private file system (OPFS),
 * with or without `opfs:/` in front, or any storage.
 */
export type CheckpointDirectory = string | URL | ReadableStorage;

/** Text that names the directory in errors. */
export function directoryName(directory: CheckpointDirectory): string {
  return storageOf(directory).name ?? "the given storage";
}

/**
 * Checks a store's directory; touches nothing.
 * @throws CheckpointValueError for blank text, an address that is not one of the web, and what is no storage.
 */
export function requireDirectory(directory: CheckpointDirectory): void {
  if (typeof directory === "string") {
    if (directory.trim() === "")
      throw new CheckpointValueError("the checkpoint directory cannot be empty; give a URL, a folder or a storage");
    if (!opfsScheme.test(directory)) requireScheme(directory);
    if (isWebAddress(directory)) httpStorage(directory);
  } else if (directory instanceof URL) {
    requireScheme(directory.href);
    httpStorage(directory);
  } else {
    requireArgument("a checkpoint directory", directory, { ...aStorage, expected: `a URL, a folder's path, or ${aStorage.expected}` });
  }
}

/**
 * The storage that a directory stands for; a folder's path is one in the browser's private file system, from its root. In Node that storage's
 * calls throw StorageError `"unavailable"`.
 */
export function storageOf(directory: CheckpointDirectory): ReadableStorage {
  if (typeof directory !== "string") return directory instanceof URL ? httpStorage(directory) : directory;
  return isWebAddress(directory) ? httpStorage(directory) : opfsStorage(absolutePath(directory.replace(opfsScheme, "")));
}

/** A storage as a place to save to; undefined where it can only be read. Stores that share one storage share its locks. */
export function writableRoot(storage: ReadableStorage, name: string): WritableRoot | undefined {
  return isWritable(storage) ? { storage: checkedStorage(storage), locks: locksOf(storage), name } : undefined;
}

/**
 * Resolves where a run keeps its checkpoints, as substrax does: `checkpointDir` if it is given, else `<runDir>/checkpoints`. Creates nothing.
 * Relative paths resolve against the root of the private file system in a browser, against the working directory in Node;
 * `.` and `..` are resolved, `~` is not; an empty text counts as given; URLs stay URLs.
 * @throws CheckpointValueError where neither is given.
 */
export function resolveCheckpointDir(checkpointDir: string | null | undefined, runDir: string | null | undefined): string {
  requireArgument("the checkpointDir that resolveCheckpointDir takes", checkpointDir ?? null, orNull(aText));
  requireArgument("the runDir that resolveCheckpointDir takes", runDir ?? null, orNull(aText));
  if (checkpointDir !== null && checkpointDir !== undefined) return resolvePath(checkpointDir);
  if (runDir === null || runDir === undefined) {
    throw new CheckpointValueError("either a checkpoint directory or a run directory is needed");
  }
  return resolvePath(isWebAddress(runDir) ? belowAddress(runDir, "/checkpoints") : `${runDir}/checkpoints`);
}

/** An http(s) URL's query comes after its path; other addresses have none. */
function belowAddress(address: string, path: string): string {
  const [, folder = "", query = ""] = (/^http/i.test(address) ? /^([^?#]*)(.*)$/s : /^(.*)()$/s).exec(address) ?? [];
  return `${folder.replace(/\/*$/, path)}${query}`;
}

function resolvePath(path: string): string {
  // The text of other addresses than URLs is taken as it is.
  if (isWebAddress(path)) return /^http/i.test(path) ? new URL(path).href : path;
  if (opfsScheme.test(path)) return path;
  const { process } = globalThis as { readonly process?: NodeProcess };
  return absolutePath(path, process?.cwd?.());
}

/** What of Node's `process` is asked for; absent in browsers. */
interface NodeProcess {
  cwd?(): string;
}

/** A path from the root, without `.` and `..`. */
function absolutePath(path: string, folder = ""): string {
  const isAbsolute = /^(?:\/|[A-Za-z]:[\\/])/.test(path);
  const base = isAbsolute ? "" : folder;
  const [, drive = "", rest = ""] = /^([A-Za-z]:)?(.*)$/s.exec(`${base}/${path}`.replace(/^\/(?=[A-Za-z]:[\\/])/, "")) ?? [];
  const parts: string[] = [];
  for (const part of rest.split(/[\\/]/)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `${drive}/${parts.join("/")}`;
}
