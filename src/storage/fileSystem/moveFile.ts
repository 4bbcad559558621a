import { placeTaken } from "../placeErrors.js";
import type { FilePlace } from "./makeFolder.js";

/** What TypeScript's types lack: all browsers move files of their private file systems, in place of others too. */
export interface Movable {
  move?(folder: FileSystemDirectoryHandle, name: string): Promise<void>;
}

/**
 * Moves a file where its browser can, in place of a file that is there; false where it moves none.
 * @throws StorageError where a folder is there, otherwise what the browser does.
 */
export async function moveFile(path: string, file: Movable, { folder, name }: FilePlace): Promise<boolean> {
  if (file.move === undefined) return false;
  // WebKit and Firefox would put the file there, and all in the folder is lost; Chromium says of one in use only that it is locked.
  if (await isFolder(folder, name)) throw placeTaken(path);
  await file.move(folder, name);
  return true;
}

const isFolder = (folder: FileSystemDirectoryHandle, name: string): Promise<boolean> =>
  folder.getDirectoryHandle(name).then(
    () => true,
    () => false,
  );
