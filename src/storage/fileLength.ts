import type { TaskContext } from "../tasks/context.js";
import type { ReadableStorage } from "./storage.js";

/**
 * A file's length in bytes, by what its place tells of it; `undefined` where there is no such file.
 * @throws StorageError where the place fails.
 */
export async function fileLength(storage: ReadableStorage, path: string, { signal }: TaskContext): Promise<number | undefined> {
  const told = await storage.size?.(path, { signal });
  if (told !== undefined) return told;
  const handle = await storage.handle?.(path, { signal });
  if (handle !== undefined) return (await handle.getFile()).size;
  return (await storage.read(path, { signal }))?.length;
}
