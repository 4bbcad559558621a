import type { Piece, PieceRun } from "./parts.js";

/** Where pieces come from, and where they go. */
export interface PieceExchange {
  /** Memory for the next piece; waits until there is some. */
  take(): ArrayBuffer | Promise<ArrayBuffer>;
  /** Takes a piece that is complete. */
  give(piece: Piece): void | Promise<void>;
}

/** Runs begin at multiples of this, as pieces end at one: so each holds whole elements of any dtype. */
const alignment = 16;

/** Packs decoded elements into pieces: many short parts into one, a long part into many. */
export class PieceWriter {
  readonly #exchange: PieceExchange;
  #memory: Uint8Array<ArrayBuffer> | undefined;
  #runs: PieceRun[] = [];
  #length = 0;

  constructor(exchange: PieceExchange) {
    this.#exchange = exchange;
  }

  /** Memory for the next bytes of a part; {@link commit} says how many were put there. */
  async room(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#memory !== undefined && this.#length < this.#memory.length) return this.#memory.subarray(this.#length);
    await this.flush();
    this.#memory = new Uint8Array(await this.#exchange.take());
    return this.#memory;
  }

  /** Notes that the room begins with so many bytes: those of a part from byte `offset` on, which continue a run where they can. */
  commit(part: number, offset: number, byteLength: number): void {
    const last = this.#runs.at(-1);
    if (last?.part === part && last.offset + last.byteLength === offset) {
      this.#runs[this.#runs.length - 1] = { ...last, byteLength: last.byteLength + byteLength };
    } else {
      this.#runs.push({ part, offset, start: this.#length, byteLength });
    }
    this.#length += byteLength;
  }

  /** Another part begins; its elements start where those of any dtype may. */
  align(): void {
    this.#length = Math.ceil(this.#length / alignment) * alignment;
  }

  /** Gives the piece away, as far as it is full. */
  async flush(): Promise<void> {
    if (this.#memory === undefined || this.#runs.length === 0) return;
    const piece = { buffer: this.#memory.buffer, runs: this.#runs };
    this.#memory = undefined;
    this.#runs = [];
    this.#length = 0;
    await this.#exchange.give(piece);
  }
}
