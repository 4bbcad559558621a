import { listingOf } from "../listing.js";

/** A file of the fake file system. */
export interface FakeFile {
  bytes: Uint8Array;
  lastModified: number;
}

/** Which call is made on what: `"getFile a/b"`, `"getDirectoryHandle a"`. */
export type FakeCall = `${"getFile" | "getFileHandle" | "getDirectoryHandle" | "values" | "createSyncAccessHandle"} ${string}`;

/**
 * A browser's file system in memory, with its refusals. Handles stand for paths, as in Chromium. What is not made here, such as writing,
 * is not there.
 */
export class FakeFileSystem {
  readonly files = new Map<string, FakeFile>();
  readonly calls: FakeCall[] = [];
  /** Names of the DOMExceptions that calls are refused with. */
  readonly refusals = new Map<FakeCall, string>();
  /** Makes what `getFile` gives. */
  fileOf = ({ bytes, lastModified }: FakeFile, name: string): File => new File([new Uint8Array(bytes)], name, { lastModified });
  /** Synchronous handles that are open, by path. */
  readonly open: string[] = [];

  constructor(files: Iterable<readonly [string, Uint8Array]> = []) {
    for (const [path, bytes] of files) this.files.set(path, { bytes, lastModified: 1_700_000_000_000 });
  }

  directory(path = ""): FileSystemDirectoryHandle {
    const handle: Partial<FileSystemDirectoryHandle> = {
      kind: "directory",
      name: nameOf(path),
      getDirectoryHandle: async (name) => {
        const child = this.#child("getDirectoryHandle", path, name);
        if (this.files.has(child)) throw refusal("TypeMismatchError");
        if (!this.#isFolder(child)) throw refusal("NotFoundError");
        return this.directory(child);
      },
      getFileHandle: async (name) => {
        const child = this.#child("getFileHandle", path, name);
        if (this.#isFolder(child)) throw refusal("TypeMismatchError");
        if (!this.files.has(child)) throw refusal("NotFoundError");
        return this.file(child);
      },
      values: () => this.#values(path) as ReturnType<FileSystemDirectoryHandle["values"]>,
    };
    return handle as FileSystemDirectoryHandle;
  }

  file(path: string): FileSystemFileHandle {
    const handle = {
      kind: "file" as const,
      name: nameOf(path),
      getFile: async () => {
        this.#call(`getFile ${path}`);
        return this.fileOf(this.#stored(path), nameOf(path));
      },
      createSyncAccessHandle: async () => {
        this.#call(`createSyncAccessHandle ${path}`);
        const stored = this.#stored(path);
        this.open.push(path);
        return {
          getSize: () => stored.bytes.byteLength,
          read: (into: Uint8Array, { at }: { at: number }) => {
            if (!this.open.includes(path)) throw refusal("InvalidStateError");
            const bytes = stored.bytes.subarray(at, at + into.byteLength);
            into.set(bytes);
            return bytes.byteLength;
          },
          close: () => {
            if (this.open.includes(path)) this.open.splice(this.open.indexOf(path), 1);
          },
        };
      },
    };
    return handle as Partial<FileSystemFileHandle> as FileSystemFileHandle;
  }

  async *#values(path: string) {
    this.#call(`values ${path}`);
    if (this.files.has(path)) throw refusal("TypeMismatchError");
    if (path !== "" && !this.#isFolder(path)) throw refusal("NotFoundError");
    const prefix = path === "" ? "" : `${path}/`;
    const { files, directories } = listingOf(this.files.keys(), prefix);
    for (const name of files) yield this.file(prefix + name);
    for (const name of directories) yield this.directory(prefix + name);
  }

  #child(method: "getFileHandle" | "getDirectoryHandle", path: string, name: string): string {
    const child = path === "" ? name : `${path}/${name}`;
    this.#call(`${method} ${child}`);
    if (["", ".", ".."].includes(name) || /[/\\]/.test(name)) throw new TypeError("Name is not allowed.");
    return child;
  }

  #call(call: FakeCall): void {
    this.calls.push(call);
    const name = this.refusals.get(call);
    if (name !== undefined) throw refusal(name);
  }

  #stored(path: string): FakeFile {
    const file = this.files.get(path);
    if (file === undefined) throw refusal("NotFoundError");
    return file;
  }

  #isFolder(path: string): boolean {
    return [...this.files.keys()].some((file) => file.startsWith(`${path}/`));
  }
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** What a browser's file system refuses a call with. */
export const refusal = (name: string): DOMException => new DOMException(`refused: ${name}`, name);

/** The same blob, whose streams and those of its slices bring their own memory, as in Safari. */
export const withoutByteStreams = <Some extends Blob>(blob: Some): Some =>
  Object.assign(blob, {
    stream: () => new ReadableStream(),
    slice: (from: number, to: number) => withoutByteStreams(Blob.prototype.slice.call(blob, from, to)),
  });

/** The same blob, whose bytes and those of its slices cannot be read; `failure` makes the error when they are. */
export function unreadable<Some extends Blob>(blob: Some, failure: () => Error): Some {
  return Object.assign(blob, {
    stream: () => new ReadableStream({ type: "bytes", pull: (controller) => controller.error(failure()) }),
    arrayBuffer: () => Promise.reject(failure()),
    slice: (from: number, to: number) => unreadable(Blob.prototype.slice.call(blob, from, to), failure),
  });
}
