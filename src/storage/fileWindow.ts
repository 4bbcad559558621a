import { CorruptCheckpointError } from "../errors.js";
import type { TaskContext } from "../tasks/context.js";
import type { ReadableStorage } from "./storage.js";

/** Bytes that are read at once where fewer are asked for: few after a jump, since the next one may follow, and more from window to window. */
const windowLength = { first: 4 * 1024, longest: 256 * 1024 };

/** Reads a file of known size from front to back, a window of it at a time; what is skipped is mostly not read. */
export class FileWindow {
  readonly #storage: ReadableStorage;
  readonly #path: string;
  readonly #size: number;
  readonly #signal: AbortSignal | undefined;
  /** Bytes of the file from `#start` on. */
  #bytes: Uint8Array;
  #start = 0;
  #position = 0;
  #windowLength = windowLength.first;

  /** @param bytes the file's first bytes, where they were read already. */
  constructor(storage: ReadableStorage, path: string, size: number, { signal }: TaskContext, bytes: Uint8Array = new Uint8Array()) {
    this.#storage = storage;
    this.#path = path;
    this.#size = size;
    this.#signal = signal;
    this.#bytes = bytes;
  }

  /** Where in the file the next byte is. */
  get position(): number {
    return this.#position;
  }

  /** Bytes of the file that are left. */
  get remaining(): number {
    return this.#size - this.#position;
  }

  /** Whether the next `length` bytes are in memory. */
  has(length: number): boolean {
    return this.#position + length <= this.#start + this.#bytes.length;
  }

  /**
   * Reads on until the next `length` bytes are in memory.
   * @throws CorruptCheckpointError where the file ends before.
   */
  async fill(length: number): Promise<void> {
    this.#requireRemaining(length);
    if (this.has(length)) return;
    const follows = this.#position <= this.#start + this.#bytes.length;
    this.#windowLength = follows ? Math.min(2 * this.#windowLength, windowLength.longest) : windowLength.first;
    const range = { offset: this.#position, length: Math.max(length, Math.min(this.#windowLength, this.remaining)) };
    const bytes = await this.#storage.read(this.#path, { range, signal: this.#signal });
    if (bytes === undefined) throw this.corrupt(`${length} bytes`, "no such file");
    this.#bytes = bytes;
    this.#start = range.offset;
  }

  /** The next byte, which is in memory; it is not taken. */
  peek(): number {
    return this.#bytes[this.#position - this.#start] ?? 0;
  }

  /** The next bytes, which are in memory; a view. */
  take(length: number): Uint8Array {
    const from = this.#position - this.#start;
    this.#position += length;
    return this.#bytes.subarray(from, from + length);
  }

  /** Leaves bytes out. Throws as {@link fill}. */
  skip(length: number): void {
    this.#requireRemaining(length);
    this.#position += length;
  }

  /** An error at the current position. */
  corrupt(expected: string, received: string): CorruptCheckpointError {
    return new CorruptCheckpointError({ path: this.#path, offset: this.#position, expected, received });
  }

  #requireRemaining(length: number): void {
    if (length > this.remaining) throw this.corrupt(`${length} bytes`, `the end after ${this.remaining}`);
  }
}
