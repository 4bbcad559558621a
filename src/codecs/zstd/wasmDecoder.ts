import { StorageError } from "../../errors.js";
import { ZstdDamage } from "./damage.js";

/** What the module of `wasm/decoder.c` exports; addresses are those of its memory. */
interface DecoderExports {
  readonly memory: WebAssembly.Memory;
  heap(): number;
  begin(): void;
  needed(): number;
  decode(to: number, room: number, from: number, byteLength: number): number;
  decodePair(to: number, room: number, from: number, byteLength: number): number;
  pairBytes(): number;
  ringBytes(windowSize: number, decodedLength: number): number;
}

/** An instance of the WebAssembly decoder that outlives its traps. */
export class WasmDecoder {
  readonly #module: WebAssembly.Module;
  #exports: DecoderExports;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#exports = instantiate(module);
  }

  /** Its memory now: it grows, and then has another buffer. */
  get buffer(): ArrayBuffer {
    return this.#exports.memory.buffer as ArrayBuffer;
  }

  /** The first address that is ours. */
  get heap(): number {
    return align(this.#exports.heap());
  }

  /** Makes the memory reach up to an address, at least. @throws StorageError `"memory"` where there is none left. */
  reach(end: number): void {
    const missing = Math.ceil((end - this.buffer.byteLength) / pageBytes);
    if (missing <= 0) return;
    try {
      this.#exports.memory.grow(missing);
    } catch (cause) {
      const message = "WebAssembly has no memory left to decode a zstd frame; restore fewer leaves at once";
      throw new StorageError({ path: "", reason: "memory", message, cause });
    }
  }

  /** Starts over with a frame's header. */
  begin(): void {
    this.#exports.begin();
  }

  /** Bytes that `decode` takes next, exactly; 0 at the frame's end. */
  get needed(): number {
    return this.#exports.needed();
  }

  /** Smallest ring for frames of this window that decode to so many bytes at most. */
  ringBytes(windowSize: number, decodedLength: number): number {
    return this.#exports.ringBytes(windowSize, decodedLength);
  }

  /**
   * Decodes a header, a block or a checksum.
   * @returns the bytes that were put at `to`, or zstd's error code, negated.
   * @throws ZstdDamage where WebAssembly itself stopped it; the decoder begins anew then, in new memory.
   */
  decode(to: number, room: number, from: number, byteLength: number): number {
    return this.#call("decode", to, room, from, byteLength);
  }

  /**
   * Decodes the next two blocks at once, from the first one's header on, where so many bytes hold both and both are Huffman-coded literals only.
   * @returns the bytes that were put at `to`; 0 where {@link decode} has to go on; or zstd's error code, negated.
   * @throws ZstdDamage as {@link decode} does.
   */
  decodePair(to: number, room: number, from: number, byteLength: number): number {
    return this.#call("decodePair", to, room, from, byteLength);
  }

  /** Compressed bytes that the last pair took. */
  get pairBytes(): number {
    return this.#exports.pairBytes();
  }

  #call(name: "decode" | "decodePair", to: number, room: number, from: number, byteLength: number): number {
    try {
      return this.#exports[name](to, room, from, byteLength);
    } catch (cause) {
      this.#exports = instantiate(this.#module);
      throw new ZstdDamage("a block that the decoder stopped at", { cause });
    }
  }
}

const pageBytes = 64 * 1024;

const align = (address: number) => Math.ceil(address / 16) * 16;

// WebAssembly's types know exports only by name.
const instantiate = (module: WebAssembly.Module) => new WebAssembly.Instance(module).exports as unknown as DecoderExports;
