import { StorageError } from "../../errors.js";
import { changeFailure } from "./failures.js";

/** Where a file is to stand. */
export interface FilePlace {
  readonly folder: FileSystemDirectoryHandle;
  readonly name: string;
}

/** The folder of a path, which may be `""`, and the name in it. */
export function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { folder: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) };
}

/**
 * The place of a file, whose folders are made where they are not there.
 * @throws StorageError where a file stands in a folder's place, or a name cannot be had.
 */
export async function makePlace(root: FileSystemDirectoryHandle, path: string): Promise<FilePlace> {
  // Such a name would become another one, with U+FFFD in place of the halves.
  if (/\p{Cs}/u.test(path)) throw new StorageError({ path, reason: "io", message: "a file's name is well-formed text; use another one" });
  const { folder, name } = splitPath(path);
  return { folder: await makeFolder(root, folder, path), name };
}

/** A folder, made where it is not there, and those above it; `""` is the root. Throws as {@link makePlace}, and names `file`. */
export async function makeFolder(root: FileSystemDirectoryHandle, path: string, file = path): Promise<FileSystemDirectoryHandle> {
  let folder = root;
  for (const name of path === "" ? [] : path.split("/")) {
    try {
      folder = await folder.getDirectoryHandle(name, { create: true });
    } catch (cause) {
      throw await changeFailure(file, cause);
    }
  }
  return folder;
}
