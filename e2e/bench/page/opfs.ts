import type { SetName } from "./protocol.js";

/** Folder of the private file system in which a set lies. */
export const opfsFolder = (set: SetName): string => `bench/${set}`;

/** A folder of the private file system, by its path. */
export async function directoryAt(path: string, options: FileSystemGetDirectoryOptions = {}): Promise<FileSystemDirectoryHandle> {
  let folder = await navigator.storage.getDirectory();
  for (const part of path.split("/")) folder = await folder.getDirectoryHandle(part, options);
  return folder;
}

/** A file of the private file system, by its path. */
export async function fileAt(path: string, options: FileSystemGetFileOptions = {}): Promise<FileSystemFileHandle> {
  const cut = path.lastIndexOf("/");
  const folder = await directoryAt(path.slice(0, cut), options);
  return folder.getFileHandle(path.slice(cut + 1), options);
}

/** What a worker gets of a file to read and write it at first hand; TypeScript has it in its library for workers only. */
export interface SyncAccessHandle {
  read(into: Uint8Array<ArrayBufferLike>, options: { readonly at: number }): number;
  write(bytes: Uint8Array): number;
  truncate(byteLength: number): void;
  flush(): void;
  close(): void;
}

/** Opens a file in a worker. */
export const openSync = (file: FileSystemFileHandle): Promise<SyncAccessHandle> =>
  (file as FileSystemFileHandle & { createSyncAccessHandle(): Promise<SyncAccessHandle> }).createSyncAccessHandle();
