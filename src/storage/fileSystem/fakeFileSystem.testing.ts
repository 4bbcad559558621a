import { listingOf } from "../listing.js";

/** A file of the fake file system. */
export interface FakeFile {
  bytes: Uint8Array;
  lastModified: number;
}

type FakeMethod =
  | "getFile"
  | "getFileHandle"
  | "getDirectoryHandle"
  | "values"
  | "removeEntry"
  | "move"
  | "createWritable"
  | "createSyncAccessHandle";

/** Which call is made on what: `"getFile a/b"`, `"getDirectoryHandle a"`; `"write a/b"` is one of a sink's. */
export type FakeCall = `${FakeMethod | "write"} ${string}`;

/** What a fake browser can do. */
export interface FakeAbilities {
  /** Synchronous handles on this thread, as in a dedicated worker. */
  readonly sync?: boolean;
  /** Files can be moved. */
  readonly moves?: boolean;
}

/** A browser's file system in memory, with its refusals. Handles stand for paths, as in Chromium. */
export class FakeFileSystem {
  readonly files = new Map<string, FakeFile>();
  readonly folders = new Set<string>();
  readonly calls: FakeCall[] = [];
  /** Names of the DOMExceptions that calls are refused with. */
  readonly refusals = new Map<FakeCall, string>();
  /** Bytes that are still free. */
  room = Number.POSITIVE_INFINITY;
  /** Most bytes that a synchronous handle takes at once. */
  longestWrite = Number.POSITIVE_INFINITY;
  /** Makes what `getFile` gives. */
  fileOf = ({ bytes, lastModified }: FakeFile, name: string): File => new File([new Uint8Array(bytes)], name, { lastModified });
  /** Files that are open for reading or writing, by path. */
  readonly open: string[] = [];
  readonly #abilities: FakeAbilities;

  constructor(files: Iterable<readonly [string, Uint8Array]> = [], { sync = true, moves = true }: FakeAbilities = {}) {
    for (const [path, bytes] of files) this.files.set(path, { bytes, lastModified: 1_700_000_000_000 });
    this.#abilities = { sync, moves };
  }

  directory(path = ""): FileSystemDirectoryHandle {
    const handle: Partial<FileSystemDirectoryHandle> = {
      kind: "directory",
      name: nameOf(path),
      getDirectoryHandle: async (name, { create = false } = {}) => {
        const child = this.#child("getDirectoryHandle", path, name);
        if (this.files.has(child)) throw refusal("TypeMismatchError");
        if (create) this.folders.add(child);
        if (!this.#isFolder(child)) throw refusal("NotFoundError");
        return this.directory(child);
      },
      getFileHandle: async (name, { create = false } = {}) => {
        const child = this.#child("getFileHandle", path, name);
        if (this.#isFolder(child)) throw refusal("TypeMismatchError");
        if (create && !this.files.has(child)) this.#put(child, new Uint8Array());
        if (!this.files.has(child)) throw refusal("NotFoundError");
        return this.file(child);
      },
      removeEntry: async (name, { recursive = false } = {}) => {
        const child = this.#child("removeEntry", path, name);
        const below = (entry: string) => entry === child || entry.startsWith(`${child}/`);
        if (!this.files.has(child) && !this.#isFolder(child)) throw refusal("NotFoundError");
        if (this.open.some(below)) throw refusal("NoModificationAllowedError");
        const files = [...this.files.keys()].filter(below);
        if (!recursive && files.some((file) => file !== child)) throw refusal("InvalidModificationError");
        for (const file of files) this.files.delete(file);
        for (const folder of [...this.folders].filter(below)) this.folders.delete(folder);
      },
      values: () => this.#values(path) as ReturnType<FileSystemDirectoryHandle["values"]>,
    };
    return Object.assign(handle, { path }) as FileSystemDirectoryHandle;
  }

  file(path: string): FileSystemFileHandle {
    const { sync, moves } = this.#abilities;
    const handle = {
      kind: "file" as const,
      name: nameOf(path),
      getFile: async () => {
        this.#call(`getFile ${path}`);
        return this.fileOf(this.#stored(path), nameOf(path));
      },
      createWritable: async () => this.#writable(path),
      ...(sync && { createSyncAccessHandle: async () => this.#syncHandle(path) }),
      ...(moves && {
        move: async (folder: FileSystemDirectoryHandle & { readonly path: string }, name: string) => {
          const to = this.#child("move", folder.path, name);
          const { bytes } = this.#stored(path);
          if (path.startsWith(`${to}/`)) throw refusal("NoModificationAllowedError");
          this.folders.delete(to); // as WebKit and Firefox do
          for (const below of this.files.keys()) if (below.startsWith(`${to}/`)) this.files.delete(below);
          if (this.open.includes(path) || this.open.includes(to)) throw refusal("NoModificationAllowedError");
          this.files.delete(path);
          this.#put(to, bytes);
        },
      }),
    };
    return handle as Partial<FileSystemFileHandle> as FileSystemFileHandle;
  }

  #syncHandle(path: string) {
    this.#call(`createSyncAccessHandle ${path}`);
    const stored = this.#stored(path);
    this.open.push(path);
    const requireOpen = () => {
      if (!this.open.includes(path)) throw refusal("InvalidStateError");
    };
    return {
      getSize: () => stored.bytes.byteLength,
      read: (into: Uint8Array, { at }: { at: number }) => {
        requireOpen();
        const bytes = stored.bytes.subarray(at, at + into.byteLength);
        into.set(bytes);
        return bytes.byteLength;
      },
      write: (bytes: Uint8Array, { at }: { at: number }) => {
        requireOpen();
        this.#call(`write ${path}`);
        const length = Math.min(bytes.byteLength, this.longestWrite, this.room);
        stored.bytes = joined(stored.bytes.subarray(0, at), bytes.subarray(0, length));
        this.room -= length;
        return length;
      },
      truncate: (length: number) => {
        stored.bytes = stored.bytes.slice(0, length);
      },
      flush: requireOpen,
      close: () => this.#close(path),
    };
  }

  #writable(path: string) {
    this.#call(`createWritable ${path}`);
    this.#stored(path);
    if (this.open.includes(path)) throw refusal("NoModificationAllowedError");
    let written = new Uint8Array();
    let ended = false;
    const end = () => {
      if (ended) throw refusal("InvalidStateError");
      ended = true;
    };
    return {
      write: async (bytes: Uint8Array) => {
        this.#call(`write ${path}`);
        if (bytes.byteLength > this.room) throw refusal("QuotaExceededError");
        this.room -= bytes.byteLength;
        written = joined(written, new Uint8Array(bytes.buffer)); // as WebKit does
      },
      close: async () => {
        end();
        this.#put(path, written);
      },
      abort: async () => end(),
    };
  }

  async *#values(path: string) {
    this.#call(`values ${path}`);
    if (this.files.has(path)) throw refusal("TypeMismatchError");
    if (path !== "" && !this.#isFolder(path)) throw refusal("NotFoundError");
    const prefix = path === "" ? "" : `${path}/`;
    const { files, directories } = listingOf(this.files.keys(), prefix);
    const empty = listingOf(this.folders, prefix).files.filter((name) => !directories.includes(name));
    for (const name of files) yield this.file(prefix + name);
    for (const name of [...directories, ...empty]) yield this.directory(prefix + name);
  }

  #child(method: "getFileHandle" | "getDirectoryHandle" | "removeEntry" | "move", path: string, name: string): string {
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

  #put(path: string, bytes: Uint8Array): void {
    for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) this.folders.add(path.slice(0, slash));
    this.files.set(path, { bytes, lastModified: Date.now() });
  }

  #close(path: string): void {
    if (this.open.includes(path)) this.open.splice(this.open.indexOf(path), 1);
  }

  #stored(path: string): FakeFile {
    const file = this.files.get(path);
    if (file === undefined) throw refusal("NotFoundError");
    return file;
  }

  #isFolder(path: string): boolean {
    return this.folders.has(path) || [...this.files.keys()].some((file) => file.startsWith(`${path}/`));
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.byteLength + second.byteLength);
  both.set(first);
  both.set(second, first.byteLength);
  return both;
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
