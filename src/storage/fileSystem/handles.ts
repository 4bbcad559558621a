import { fileSystemError, isAbsence } from "./failures.js";

/** Opens the folder that paths begin in; undefined where there is none, so far. */
export type OpenRoot = () => Promise<FileSystemDirectoryHandle | undefined>;

/** Finds files and folders by their paths, and remembers those that it found; what was not there is looked for again. */
export class Handles {
  readonly #openRoot: OpenRoot;
  readonly #folders = new Map<string, Promise<FileSystemDirectoryHandle | undefined>>();
  readonly #files = new Map<string, Promise<FileSystemFileHandle | undefined>>();

  constructor(openRoot: OpenRoot) {
    this.#openRoot = openRoot;
  }

  /**
   * A folder; `""` is the root. Undefined where none stands.
   * @throws StorageError `"io"` where the file system fails.
   */
  folder(path: string): Promise<FileSystemDirectoryHandle | undefined> {
    return remembered(this.#folders, path, () =>
      path === "" ? this.#openRoot() : this.#entry(path, (parent, name) => parent.getDirectoryHandle(name)),
    );
  }

  /** A file; undefined where none stands. Throws as {@link folder}. */
  file(path: string): Promise<FileSystemFileHandle | undefined> {
    return remembered(this.#files, path, () => this.#entry(path, (parent, name) => parent.getFileHandle(name)));
  }

  async #entry<Handle>(path: string, open: (parent: FileSystemDirectoryHandle, name: string) => Promise<Handle>) {
    const slash = path.lastIndexOf("/");
    const name = path.slice(slash + 1);
    // Such a name would become another one, with U+FFFD in place of the halves.
    if (/\p{Cs}/u.test(name)) return undefined;
    const parent = await this.folder(path.slice(0, Math.max(slash, 0)));
    return parent && unlessAbsent(path, open(parent, name).catch(undefinedWhereNoName));
  }
}

/** Which names a file cannot have differs between browsers; all refuse them with a TypeError, and nothing else. */
function undefinedWhereNoName(cause: unknown): undefined {
  if (!(cause instanceof TypeError)) throw cause;
}

/** Undefined where there is no such entry; any other failure is a StorageError. */
export async function unlessAbsent<Value>(path: string, work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (cause) {
    if (isAbsence(cause)) return undefined;
    throw fileSystemError(path, cause);
  }
}

function remembered<Handle>(
  known: Map<string, Promise<Handle | undefined>>,
  path: string,
  open: () => Promise<Handle | undefined>,
): Promise<Handle | undefined> {
  const before = known.get(path);
  if (before !== undefined) return before;
  const opening = open();
  const forget = () => known.delete(path);
  known.set(path, opening);
  opening.then((handle) => handle === undefined && forget(), forget);
  return opening;
}
