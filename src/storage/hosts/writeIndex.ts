import { aSignal, requireArgument, requireOptions } from "../../arguments.js";
import type { TaskContext } from "../../tasks/context.js";
import type { ReadableStorage, WritableStorage } from "../storage.js";
import { aWritableStorage } from "../writable.js";
import { formatIndexFile, indexFileName } from "./indexFile.js";

/**
 * Writes the file `orbax-webgpu-index.json`, which lists all files of a folder, for web hosts that cannot list: `httpStorage` finds it in the
 * folder that it was given. It has to be written again after each save.
 * @throws StorageError and CheckpointValueError as the storage's calls do.
 */
export async function writeIndex(storage: WritableStorage, options: Pick<TaskContext, "signal"> = {}): Promise<void> {
  requireArgument("what writeIndex takes", storage, aWritableStorage);
  requireOptions("writeIndex", options, { signal: aSignal });
  const { signal } = options;
  const paths = await pathsBelow(storage, "", signal);
  const bytes = formatIndexFile(paths.filter((path) => path !== indexFileName));
  await storage.write(indexFileName, bytes, { signal });
}

async function pathsBelow(storage: ReadableStorage, prefix: string, signal: AbortSignal | undefined): Promise<string[]> {
  const { files, directories } = await storage.list(prefix, { signal });
  const paths = files.map((name) => prefix + name);
  for (const name of directories) paths.push(...(await pathsBelow(storage, `${prefix}${name}/`, signal)));
  return paths.sort();
}
