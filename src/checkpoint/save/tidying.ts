import type { WritableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { type Commit, filesBelow, markerName, readState } from "./commits.js";
import { readersLock, type WritableRoot, writersLock } from "./writableRoot.js";

/** Tidies where nobody reads just now; the caller is the only writer. What fails is left to the next one. */
export async function tidyIfUnread({ storage, locks }: WritableRoot): Promise<void> {
  await locks.hold(readersLock, { mode: "exclusive", wait: false }, () => tidy(storage, {})).catch(() => undefined);
}

/** Tidies what others left, where nobody writes or reads just now; for the first reader. */
export async function tidyLeftovers(root: WritableRoot): Promise<void> {
  await root.locks.hold(writersLock, { mode: "exclusive", wait: false }, () => tidyIfUnread(root)).catch(() => undefined);
}

/** Takes a commit back, or what was written of it: its marker first. */
export async function discard(root: WritableStorage, folder: string): Promise<void> {
  await root.remove(`${folder}/${markerName}`);
  await root.remove(folder);
}

/** Tidies all that is pending. The caller is the only writer, and nobody reads. Throws StorageError where the place fails. */
async function tidy(root: WritableStorage, context: TaskContext): Promise<void> {
  const { pending, outdated, unfinished } = await readState(root, context);
  for (const folder of [...outdated.map((commit) => commit.folder), ...unfinished]) await discard(root, folder);
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
