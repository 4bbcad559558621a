import { isJsonObject, type JsonValue, longestJson, parseJson } from "../../bytes/json.js";
import { isCheckpointError } from "../../errors.js";
import { isPartialName } from "../../storage/partialName.js";
import { requirePath } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { stepOfFolder } from "../steps.js";
import { commitFolder, isCommitFolder } from "./commitFolder.js";

/**
 * How a step comes, changes and goes without ever being half there. Folders cannot be renamed in a browser, and removing one takes many
 * calls, so that every change of a step N is one file that says all:
 *
 * 1. Commit. What is to become step N is written into a folder `N.orbax-checkpoint-tmp-webgpu-<number>-<random>` beside the steps, which Orbax
 *    ignores. The last file in there is the marker, `orbax-webgpu-commit.json`. Before it there is nothing; from it on the step is what
 *    the marker says: it lists the step's files, or says that there is none any more (of a delete, and of steps too many). A later commit of
 *    the same step has a higher number, and counts.
 * 2. Tidy. The files are moved into `N/`, one by one, what else stood there is removed, and then the marker goes, and its folder. A
 *    tidying that was cut short is taken up by the next one; until then a listed file is where it is found: in the folder of the commit, or,
 *    moved already, in `N/`. Nobody reads meanwhile: readers share a lock that tidying takes alone. Somebody may write.
 *
 * A marker names what it replaces, by the text of `N/_CHECKPOINT_METADATA`, in which Orbax and this package write the times of the save. Where
 * another text stands there, a writer that knows nothing of markers, such as Python, has saved step N since: that one stays.
 */
export interface Commit {
  readonly step: number;
  /** The folder it was written into. */
  readonly folder: string;
  readonly number: number;
  /** The text of the new `_CHECKPOINT_METADATA`; `""` where the step is removed. */
  readonly identity: string;
  /** Texts of `_CHECKPOINT_METADATA` that it replaces. */
  readonly replaces: readonly string[];
  /** Paths of the step's files, from its folder; undefined where the step is removed. */
  readonly files: readonly string[] | undefined;
}

/** The marker's name in the folder of a commit. */
export const markerName = "orbax-webgpu-commit.json";

/** The file that tells one save of a step from another. */
export const identityFile = "_CHECKPOINT_METADATA";

/** What stands in the root of a store. */
export interface StoreState {
  /** Names that are no folders. */
  readonly files: readonly string[];
  /** Folders without those of commits. */
  readonly directories: readonly string[];
  /** By step, the commits that say what it is: those that nobody has tidied yet. */
  readonly pending: ReadonlyMap<number, Commit>;
  /** Commits that say nothing any more, and folders of saves that ended before their commit. */
  readonly outdated: readonly Commit[];
  readonly unfinished: readonly string[];
}

/** The steps that there are, ascending. */
export function stepsOf({ directories, pending }: StoreState): number[] {
  const steps = new Set(directories.map(stepOfFolder).filter((step) => step !== undefined));
  for (const [step, { files }] of pending) {
    if (files === undefined) steps.delete(step);
    else steps.add(step);
  }
  return [...steps].sort((a, b) => a - b);
}

/**
 * Reads which steps there are, and what is pending. A folder without a marker may have had one when the listing began, and be tidied since: then
 * its step stands in another place than in that listing. Throws StorageError where the place fails.
 */
export async function readState(root: ReadableStorage, context: TaskContext): Promise<StoreState> {
  const known = new Set<string>();
  for (;;) {
    const state = await readOnce(root, context);
    if (state.unfinished.every((folder) => known.has(folder))) return state;
    for (const folder of state.unfinished) known.add(folder);
  }
}

async function readOnce(root: ReadableStorage, context: TaskContext): Promise<StoreState> {
  const { signal } = context;
  const { files, directories } = await root.list("", { signal });
  const folders = directories.filter(isCommitFolder);
  const rest = directories.filter((name) => !isCommitFolder(name));
  if (folders.length === 0) return { files, directories: rest, pending: new Map(), outdated: [], unfinished: [] };
  const read = await Promise.all(folders.map((folder) => readMarker(root, folder, context)));
  const commits = read.filter((commit) => commit !== undefined).sort((a, b) => b.number - a.number);
  const pending = new Map<number, Commit>();
  for (const commit of commits) {
    const isNewest = commits.find(({ step }) => step === commit.step) === commit;
    if (isNewest && (await counts(root, commit, context))) pending.set(commit.step, commit);
  }
  return {
    files,
    directories: rest,
    pending,
    outdated: commits.filter((commit) => pending.get(commit.step) !== commit),
    unfinished: folders.filter((_, index) => read[index] === undefined),
  };
}

/** Undefined where the folder was not committed: it has no marker, or one that was cut short. */
async function readMarker(root: ReadableStorage, folder: string, context: TaskContext): Promise<Commit | undefined> {
  const path = `${folder}/${markerName}`;
  const bytes = await readSettled(root, path, context);
  if (bytes === undefined) return undefined;
  const [, step = "", number = ""] = commitFolder.exec(folder) ?? [];
  const members = parseMarker(bytes, path);
  return members && stepOfFolder(step) !== undefined ? { step: Number(step), number: Number(number), folder, ...members } : undefined;
}

function parseMarker(bytes: Uint8Array, path: string): Pick<Commit, "identity" | "replaces" | "files"> | undefined {
  try {
    const marker = parseJson(bytes, path);
    if (!isJsonObject(marker)) return undefined;
    const { version, identity, replaces, files } = marker;
    if (version !== 1 || typeof identity !== "string" || !isTexts(replaces)) return undefined;
    if (files === null) return { identity, replaces, files: undefined };
    if (!isTexts(files)) return undefined;
    for (const file of files) requirePath(file);
    return { identity, replaces, files };
  } catch (error) {
    if (isCheckpointError(error, "Corrupt") || isCheckpointError(error, "Value")) return undefined;
    throw error;
  }
}

const isTexts = (value: JsonValue | undefined): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === "string");

/** The text of a step's `_CHECKPOINT_METADATA`; `""` where there is none. */
export async function readIdentity(root: ReadableStorage, folder: string, context: TaskContext): Promise<string> {
  const bytes = await readSettled(root, `${folder}/${identityFile}`, context);
  return bytes === undefined ? "" : new TextDecoder().decode(bytes);
}

/** Most times that a file is replaced while it is read. */
const mostTries = 10;

/** A whole file; where somebody tidies it away meanwhile, what stands there then. */
async function readSettled(root: ReadableStorage, path: string, { signal }: TaskContext): Promise<Uint8Array | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await root.read(path, { longest: longestJson, signal });
    } catch (error) {
      if (tries === mostTries || !isCheckpointError(error, "Storage") || error.reason !== "changed") throw error;
    }
  }
}

/** Whether nobody else has saved the step since. */
async function counts(root: ReadableStorage, commit: Commit, context: TaskContext): Promise<boolean> {
  const identity = await readIdentity(root, String(commit.step), context);
  return identity === "" || identity === commit.identity || commit.replaces.includes(identity);
}

/** Whether there is anything to tidy. */
export const isUntidy = ({ files, pending, outdated, unfinished }: StoreState): boolean =>
  pending.size + outdated.length + unfinished.length > 0 || files.some(isPartialName);

/** Paths of all files below a folder, from it. */
export async function filesBelow(root: ReadableStorage, folder: string, context: TaskContext): Promise<Set<string>> {
  const found = new Set<string>();
  const visit = async (prefix: string): Promise<void> => {
    const { files, directories } = await root.list(`${folder}/${prefix}`, { signal: context.signal });
    for (const name of files) found.add(prefix + name);
    await Promise.all(directories.map((name) => visit(`${prefix}${name}/`)));
  };
  await visit("");
  return found;
}
