import { StorageError } from "../../errors.js";

/** A file that is being filled, in order. What it throws is the platform's own. */
export interface FileSink {
  /** Writes the first `byteLength` bytes of a buffer, which is the sink's meanwhile; gives it, or one as large, back. */
  put(buffer: ArrayBuffer, byteLength: number): Promise<ArrayBuffer>;
  /** The file has all bytes, on the disk, and is let go of. */
  close(): Promise<void>;
  /** Lets go of the file, whatever it holds then. Never rejects. */
  abandon(): Promise<void>;
}

/** Begins to fill a file. */
export type OpenSink = (handle: FileSystemFileHandle) => Promise<FileSink>;

/** What older browsers lack, such as Safari before 26. */
interface Streamed {
  createWritable?: FileSystemFileHandle["createWritable"];
}

const cannotWrite = (path: string): StorageError =>
  new StorageError({
    path,
    reason: "unavailable",
    message:
      "this browser writes files in workers only, and there is none here: allow them (worker-src blob: in a content security policy), or use a newer one",
  });

/** Fills a file on any thread; the file changes when it is closed. @throws StorageError `"unavailable"` where the browser has no such streams. */
export async function openWritableSink(handle: FileSystemFileHandle & Streamed): Promise<FileSink> {
  const writable = await handle.createWritable?.();
  if (writable === undefined) throw cannotWrite(handle.name);
  return {
    async put(buffer, byteLength) {
      // Of a view WebKit 2.50 (Safari 26) writes all of the buffer that it stands in.
      await writable.write(new Uint8Array(byteLength === buffer.byteLength ? buffer : buffer.slice(0, byteLength)));
      return buffer;
    },
    close: () => writable.close(),
    abandon: () => writable.abort().catch(() => undefined),
  };
}

/** The part of the platform's synchronous handle that writes; what is a promise in old browsers may be one. */
interface SyncHandle {
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  truncate(byteLength: number): void | Promise<void>;
  flush(): void | Promise<void>;
  close(): void | Promise<void>;
}

/** What TypeScript's types for pages lack, since only dedicated workers have it. */
interface SyncOpener {
  createSyncAccessHandle?(): Promise<SyncHandle>;
}

/**
 * Chromium, in windows that keep nothing on the disk, gives its negative code, as an unsigned number, in place of the count and throws nothing:
 * -8 where there is no room.
 */
const refusedWrite = (count: number): DOMException =>
  new DOMException(`not all bytes could be written (${count | 0})`, [0, -8].includes(count | 0) ? "QuotaExceededError" : "UnknownError");

/**
 * Fills a file in place, in a dedicated worker: several times as fast as the other way, and nobody else can open the file meanwhile.
 * Undefined on threads, and for files, that have no such handles.
 */
export async function openSyncSink(handle: FileSystemFileHandle & SyncOpener): Promise<FileSink | undefined> {
  const sync = await handle.createSyncAccessHandle?.();
  if (sync === undefined) return undefined;
  try {
    await sync.truncate(0);
  } catch (cause) {
    await letGoOf(sync);
    throw cause;
  }
  let at = 0;
  return {
    async put(buffer, byteLength) {
      const end = at + byteLength;
      for (let done = 0; at < end; ) {
        const wanted = byteLength - done;
        const count = sync.write(new Uint8Array(buffer, done, wanted), { at });
        if (!(count > 0 && count <= wanted)) throw refusedWrite(count);
        done += count;
        at += count;
      }
      return buffer;
    },
    async close() {
      await sync.flush();
      await sync.close();
    },
    abandon: () => letGoOf(sync),
  };
}

/** It was refused something, and may refuse this too. */
async function letGoOf(sync: SyncHandle): Promise<void> {
  try {
    await sync.close();
  } catch {
    // nothing can be done
  }
}
