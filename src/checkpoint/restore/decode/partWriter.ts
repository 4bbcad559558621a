import { loadCast } from "../../../arrays/loadCast.js";
import { CorruptCheckpointError, UnsupportedCheckpointError } from "../../../errors.js";
import { isStoredAsHeld, readElements } from "../../../zarr/elements.js";
import type { StoredPart } from "./parts.js";
import type { PieceWriter } from "./pieceWriter.js";

/** Most bytes of stored elements that are converted at once. */
const conversionLength = 256 * 1024;

/** Turns stored elements into wanted ones. */
type Convert = (elements: Uint8Array) => Uint8Array;

/** Turns the decoded bytes of one part into elements of the wanted dtype, and packs them into pieces. */
export class PartWriter {
  readonly #pieces: PieceWriter;
  readonly #index: number;
  readonly #part: StoredPart;
  readonly #path: string;
  readonly #convert: Convert | undefined;
  /** Stored elements that wait to be converted. */
  #staged: Uint8Array | undefined;
  #stagedLength = 0;
  /** Decoded bytes so far, and the bytes of wanted elements that they became. */
  #received = 0;
  #written = 0;

  /** `index` is the part's in its job, `path` its file's, for errors; `convert` is undefined where decoded bytes are the wanted elements. */
  constructor(pieces: PieceWriter, index: number, part: StoredPart, path: string, convert: Convert | undefined) {
    this.#pieces = pieces;
    this.#index = index;
    this.#part = part;
    this.#path = path;
    this.#convert = convert;
    pieces.align();
  }

  /** Whether decoded bytes are the wanted elements already. */
  get isPlain(): boolean {
    return this.#convert === undefined;
  }

  /** Decoded bytes that are still to come. */
  get missing(): number {
    return this.#part.decodedLength - this.#received;
  }

  /** Memory that decoded bytes may be put into without a detour, where they {@link isPlain}; {@link commit} follows. */
  async room(): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#pieces.room()).subarray(0, this.missing);
  }

  /** Notes that the room begins with so many bytes. */
  commit(byteLength: number): void {
    this.#received += byteLength;
    this.#place(byteLength);
  }

  /** Takes the next decoded bytes, any number of them; they are the caller's again when the promise resolves. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > this.missing) throw this.#wrongLength(`${this.#received + bytes.length} or more`);
    this.#received += bytes.length;
    await (this.#convert === undefined ? this.#copy(bytes) : this.#stage(bytes, this.#convert));
  }

  /** @throws CorruptCheckpointError where the part decoded to fewer bytes than it has. */
  end(): void {
    if (this.missing > 0) throw this.#wrongLength(`${this.#received}`);
  }

  async #stage(bytes: Uint8Array, convert: Convert): Promise<void> {
    this.#staged ??= new Uint8Array(Math.min(conversionLength, this.#part.decodedLength));
    for (let done = 0; done < bytes.length; ) {
      const some = bytes.subarray(done, done + this.#staged.length - this.#stagedLength);
      this.#staged.set(some, this.#stagedLength);
      this.#stagedLength += some.length;
      done += some.length;
      const isLast = this.missing === 0 && done === bytes.length;
      if (this.#stagedLength < this.#staged.length && !isLast) return;
      const elements = convert(this.#staged.subarray(0, this.#stagedLength));
      this.#stagedLength = 0;
      await this.#copy(elements);
    }
  }

  async #copy(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const room = await this.#pieces.room();
      const some = bytes.subarray(done, done + room.length);
      room.set(some);
      this.#place(some.length);
      done += some.length;
    }
  }

  #place(byteLength: number): void {
    this.#pieces.commit(this.#index, this.#written, byteLength);
    this.#written += byteLength;
  }

  #wrongLength(received: string): CorruptCheckpointError {
    const { offset, decodedLength } = this.#part;
    return new CorruptCheckpointError({ path: this.#path, offset, expected: `a chunk of ${decodedLength} bytes, decoded`, received });
  }
}

/** What turns stored elements into wanted ones; undefined where they are the same bytes. */
export async function conversionOf({ storedDtype, byteOrder, dtype, offset }: StoredPart, path: string): Promise<Convert | undefined> {
  const place = { path, offset };
  if (dtype === storedDtype)
    return isStoredAsHeld(dtype, byteOrder) ? undefined : (elements) => readElements(elements, dtype, byteOrder, place);
  const { castFrom } = await loadCast();
  const cast = castFrom(storedDtype, dtype);
  if (cast === undefined) throw new UnsupportedCheckpointError(`${path}: no cast from ${storedDtype} to ${dtype}`);
  return (elements) => cast(readElements(elements, storedDtype, byteOrder, place));
}
