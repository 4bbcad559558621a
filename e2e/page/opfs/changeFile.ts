import { opfsFolder, putFile } from "./files.js";

async function placeOf(path: string): Promise<{ folder: FileSystemDirectoryHandle; handle: FileSystemFileHandle }> {
  const slash = path.lastIndexOf("/");
  const folder = await opfsFolder(path.slice(0, slash));
  return { folder, handle: await folder.getFileHandle(path.slice(slash + 1)) };
}

/**
 * Opens a file of the origin's private file system for writing, and leaves it as it is; again and again for five seconds where somebody
 * reads it.
 * @returns how often that was refused.
 */
export async function whenWritable(path: string): Promise<number> {
  const { handle } = await placeOf(path);
  for (let refusals = 0; ; refusals++) {
    const writable = await handle.createWritable().catch((error: Error) => {
      if (error.name !== "NoModificationAllowedError" || refusals === 250) throw error;
    });
    if (writable !== undefined) {
      await writable.abort();
      return refusals;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * Changes two bits of the byte at each position; once more, and it is as it was. The whole file is written anew: where files are kept in
 * memory, as in private windows, Chromium 156 leaves `lastModified` as it was when only a part is.
 */
export async function flipBits(path: string, positions: readonly number[]): Promise<void> {
  const { handle } = await placeOf(path);
  const bytes = new Uint8Array(await (await handle.getFile()).arrayBuffer());
  for (const position of positions) bytes[position] = (bytes[position] ?? 0) ^ 0x06;
  await putFile(path, bytes);
}

/** Removes a file, which is refused where somebody reads it. */
export async function removeFile(path: string): Promise<void> {
  const { folder, handle } = await placeOf(path);
  await folder.removeEntry(handle.name);
}
