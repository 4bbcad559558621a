import type { FileWriter } from "../storage/fileWriter.js";
import type { WritableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import type { DataPlace } from "./buildTree.js";

/** Bytes that come in pieces, `byteLength` of them together; a piece is only read until the next one is asked for. */
export interface StreamedValue {
  readonly byteLength: number;
  readonly pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Small values are gathered, so that a storage gets few calls. */
const gatheredBytes = 1024 * 1024;

/** A data file that is being written. */
interface OpenFile {
  readonly path: string;
  readonly writer: FileWriter;
  length: number;
}

/** Appends values to data files: a new one begins where the next value would make the last too long. One call at a time. */
export class DataFileWriter {
  readonly #storage: WritableStorage;
  readonly #longest: number;
  readonly #nextPath: () => string;
  readonly #context: TaskContext;
  readonly #gathered = new Uint8Array(gatheredBytes);
  #gatheredLength = 0;
  #file: OpenFile | undefined;
  #finished = 0;

  /**
   * @param longest bytes of a file, unless a single value has more.
   * @param nextPath names each file, as readers are going to find it.
   */
  constructor(storage: WritableStorage, longest: number, nextPath: () => string, context: TaskContext) {
    this.#storage = storage;
    this.#longest = longest;
    this.#nextPath = nextPath;
    this.#context = context;
  }

  /** Bytes of all files so far. */
  get byteLength(): number {
    return this.#finished + (this.#file?.length ?? 0);
  }

  /**
   * Appends a value, and tells where.
   * @throws RangeError where the pieces are not as long as they should be, StorageError where the place fails.
   */
  async append(value: StreamedValue): Promise<DataPlace> {
    const file = await this.#fileFor(value.byteLength);
    const offset = file.length;
    for await (const piece of value.pieces) {
      if (file.length + piece.length > offset + value.byteLength) throw wrongLength(value, "more");
      await this.#put(file, piece);
    }
    const length = file.length - offset;
    if (length !== value.byteLength) throw wrongLength(value, `${length}`);
    return { path: file.path, offset, length };
  }

  /** Finishes the last file. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#flush(file);
    await file.writer.close();
    this.#finished += file.length;
    this.#file = undefined;
  }

  /** Gives the last file up; those that were full stay. */
  async abort(): Promise<void> {
    await this.#file?.writer.abort();
    this.#file = undefined;
  }

  async #fileFor(length: number): Promise<OpenFile> {
    if (this.#file !== undefined && this.#file.length > 0 && this.#file.length + length > this.#longest) await this.close();
    if (this.#file === undefined) {
      const path = this.#nextPath();
      this.#file = { path, writer: await this.#storage.create(path, this.#context), length: 0 };
    }
    return this.#file;
  }

  async #put(file: OpenFile, piece: Uint8Array): Promise<void> {
    if (this.#gatheredLength + piece.length > gatheredBytes) await this.#flush(file);
    if (piece.length > gatheredBytes / 2) {
      await this.#flush(file);
      await file.writer.write(piece);
    } else {
      this.#gathered.set(piece, this.#gatheredLength);
      this.#gatheredLength += piece.length;
    }
    file.length += piece.length;
  }

  async #flush(file: OpenFile): Promise<void> {
    if (this.#gatheredLength === 0) return;
    await file.writer.write(this.#gathered.subarray(0, this.#gatheredLength));
    this.#gatheredLength = 0;
  }
}

const wrongLength = ({ byteLength }: StreamedValue, received: string) =>
  new RangeError(`a value of ${byteLength} bytes came in pieces of ${received} together`);
