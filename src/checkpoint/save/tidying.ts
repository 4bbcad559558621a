import type { LockRequest } from "../../storage/locks/locks.js";
import type { WritableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { type Commit, filesBelow, markerName, readState } from "./commits.js";
import { readersLock, type WritableRoot, writersLock } from "./writableRoot.js";

/**
 * Tidies where nobody reads just now. Otherwise it is done in the background, as soon as those have read who read now. What fails is left to
 * the next one.
 */
export async function tidySoon(root: WritableRoot): Promise<void> {
  const isDone = await tidyAlone(root, atOnce).catch(() => true);
  if (!isDone) tidyAfterReaders(root).catch(() => undefined);
}

const atOnce = { mode: "exclusive", wait: false } as const;

/** Tidies while nobody reads, and nobody else tidies; false where it does not wait and somebody does. */
async function tidyAlone({ storage, locks }: WritableRoot, request: LockRequest): Promise<boolean> {
  return (await locks.hold(readersLock, request, () => tidy(storage, {}))) !== undefined;
}

/**
 * How long it waits for those who read, in milliseconds, before it goes to the end of the line. Whoever comes meanwhile waits behind it, so that
 * readers who follow on each other do not hold it up; and a read that takes long, or never ends, does not hold up others for long.
 */
const patience = [100, 200, 400, 800, 1600, 3200, 6400];

async function tidyAfterReaders(root: WritableRoot): Promise<void> {
  for (const milliseconds of patience) {
    const limit = AbortSignal.timeout(milliseconds);
    const isDone = await tidyAlone(root, { mode: "exclusive", wait: true, signal: limit }).catch((error: unknown) => {
      if (!limit.aborted) throw error;
      return false;
    });
    if (isDone) return;
  }
}

/** Tidies, and removes what saves that have ended left, where nobody writes just now; for the first reader. */
export async function tidyLeftovers(root: WritableRoot): Promise<void> {
  await root.locks.hold(writersLock, atOnce, () => tidyAsWriter(root)).catch(() => undefined);
}

/** Tidies, and removes what saves that have ended left. The caller is the only writer. Throws StorageError where the place fails. */
export async function tidyAsWriter(root: WritableRoot): Promise<void> {
  await tidySoon(root);
  const { unfinished } = await readState(root.storage, {});
  for (const folder of unfinished) await discard(root.storage, folder);
  await root.storage.removeAbandoned?.("");
}

/** Takes a commit back, or what was written of it: its marker first. */
export async function discard(root: WritableStorage, folder: string): Promise<void> {
  await root.remove(`${folder}/${markerName}`);
  await root.remove(folder);
}

/**
 * Tidies all that is pending. Nobody reads, and nobody else tidies; others may write: a folder without a marker is theirs, and what they commit
 * meanwhile replaces what is tidied, whether it stands in its own folder or in that of its step. Throws StorageError where the place fails.
 */
async function tidy(root: WritableStorage, context: TaskContext): Promise<void> {
  const { pending, outdated } = await readState(root, context);
  for (const { folder } of outdated) await discard(root, folder);
  for (const commit of pending.values()) {
    if (commit.files === undefined) await root.remove(String(commit.step));
    else await publish(root, { ...commit, files: commit.files }, context);
    await discard(root, commit.folder);
  }
}

async function publish(root: WritableStorage, commit: Commit & { readonly files: readonly string[] }, context: TaskContext): Promise<void> {
  const waiting = await filesBelow(root, commit.folder, context);
  for (const file of commit.files) if (waiting.has(file)) await root.move(`${commit.folder}/${file}`, `${commit.step}/${file}`);
  await removeOthers(root, `${commit.step}/`, new Set(commit.files), context);
}

/** Removes what is not among the files: first of all whole folders without any of them. */
async function removeOthers(root: WritableStorage, prefix: string, kept: ReadonlySet<string>, context: TaskContext): Promise<void> {
  const { files, directories } = await root.list(prefix, { signal: context.signal });
  for (const name of files) if (!kept.has(name)) await root.remove(prefix + name);
  for (const name of directories) {
    const below = new Set([...kept].filter((path) => path.startsWith(`${name}/`)).map((path) => path.slice(name.length + 1)));
    if (below.size === 0) await root.remove(prefix + name);
    else await removeOthers(root, `${prefix}${name}/`, below, context);
  }
}
