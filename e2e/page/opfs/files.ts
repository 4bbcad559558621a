/** A folder of the origin's private file system by its path; made where it is not there. */
export async function opfsFolder(path: string): Promise<FileSystemDirectoryHandle> {
  let folder = await navigator.storage.getDirectory();
  for (const name of path.split("/")) if (name !== "") folder = await folder.getDirectoryHandle(name, { create: true });
  return folder;
}

/** Writes a file of the origin's private file system as pages do, in place of what was there. */
export async function putFile(path: string, bytes: Uint8Array): Promise<FileSystemFileHandle> {
  const slash = path.lastIndexOf("/");
  const folder = await opfsFolder(path.slice(0, Math.max(slash, 0)));
  const handle = await folder.getFileHandle(path.slice(slash + 1), { create: true });
  const writable = await handle.createWritable();
  await writable.write(new Uint8Array(bytes));
  await writable.close();
  return handle;
}

/** Writes files below a folder. */
export async function putFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [path, bytes] of files) await putFile(`${folder}/${path}`, bytes);
}

/** Copies files of a server, such as a checkpoint's, below a folder. */
export async function copyFiles(folder: string, url: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const answer = await fetch(`${url}/${path.split("/").map(encodeURIComponent).join("/")}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    await putFile(`${folder}/${path}`, new Uint8Array(await answer.arrayBuffer()));
  }
}
