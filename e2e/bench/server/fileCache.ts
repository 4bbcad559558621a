import { open, readFile, stat } from "node:fs/promises";

const mostBytes = 1.5 * 2 ** 30;
const largestFile = 512 * 2 ** 20;

/** Bytes of a file, from `start` up to `end`, in one piece or several. */
export interface ServedBytes {
  readonly size: number;
  pieces(start: number, end: number): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Files that are served from memory, so that reading them costs the measured machine nothing; very large ones come from disk. */
export class FileCache {
  readonly #files = new Map<string, Uint8Array>();
  #bytes = 0;

  /** A file; undefined where there is none. */
  async open(path: string): Promise<ServedBytes | undefined> {
    const status = await stat(path).catch(() => undefined);
    if (status === undefined || !status.isFile()) return undefined;
    if (status.size > largestFile) return { size: status.size, pieces: (start, end) => diskPieces(path, start, end) };
    const bytes = this.#files.get(path) ?? (await this.#keep(path));
    return { size: bytes.byteLength, pieces: (start, end) => [bytes.subarray(start, end)] };
  }

  async #keep(path: string): Promise<Uint8Array> {
    const bytes = await readFile(path);
    this.#files.set(path, bytes);
    this.#bytes += bytes.byteLength;
    for (const [oldest, { byteLength }] of this.#files) {
      if (this.#bytes <= mostBytes) break;
      this.#files.delete(oldest);
      this.#bytes -= byteLength;
    }
    return bytes;
  }
}

async function* diskPieces(path: string, start: number, end: number): AsyncIterable<Uint8Array> {
  const file = await open(path);
  try {
    for (let at = start; at < end; ) {
      const memory = new Uint8Array(Math.min(4 * 2 ** 20, end - at)); // the socket keeps it until it is sent
      const { bytesRead } = await file.read(memory, 0, memory.byteLength, at);
      if (bytesRead === 0) throw new Error(`${path} became shorter`);
      yield memory.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
