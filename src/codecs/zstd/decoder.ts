import { ZstdDamage } from "./damage.js";
import { blockLimit, largestBlock, parseFrameHeader, type ZstdFrameHeader } from "./frameHeader.js";
import { WasmDecoder } from "./wasmDecoder.js";

/** What a frame may decode to. */
export interface ZstdLimits {
  /** Most decoded bytes. */
  readonly longestDecoded: number;
  /** Exact number of decoded bytes, where it is known. */
  readonly decodedLength?: number | undefined;
  /** Exact number of compressed bytes; needed where they are not a whole frame. */
  readonly encodedLength?: number | undefined;
}

/** Bytes of a block's header, and of nothing else that the decoder asks for between a frame's header and its end. */
const blockHeaderLength = 3;
/** Memory for compressed bytes: there is room for two blocks, which are decoded at once, beside what the storage gives next. */
const inputLength = 4 * largestBlock;
/** Memory that blocks are decoded into, one after the other and over again; a frame with a larger window gets more. More was no faster. */
const usualRing = 1024 * 1024;
/** Decoded bytes that are given at once where blocks are small; at most two blocks are added to them. */
const smallestPiece = 64 * 1024;
/** Room behind input and ring: WebAssembly's loads of 16 bytes stay within the memory. */
const margin = 64;

/** `ZSTD_error_dstSize_tooSmall`, as libzstd returns it, and its error for a checksum. */
const noRoom = -70;
const wrongChecksum = -22;

/**
 * Decodes zstd frames block by block into a ring in WebAssembly memory, of 2 MiB in all, one frame at a time, synchronously. It refuses
 * what {@link parseFrameHeader} refuses, verifies checksums, and stops at the first byte too many. Call {@link begin}, then put
 * compressed bytes into {@link input}, say how many in {@link given}, and take all that {@link next} gives, over and over.
 */
export class ZstdDecoder {
  readonly #wasm: WasmDecoder;
  #phase: "idle" | "header" | "blocks" | "ended" = "idle";
  #limits: ZstdLimits = { longestDecoded: 0 };
  /** Given bytes that are not consumed yet: from and to, in the input. */
  #from = 0;
  #to = 0;
  #consumed = 0;
  #decoded = 0;
  /** Bytes that the next step takes. */
  #needed = 0;
  #ringLength = usualRing;
  /** Where in the ring the next block goes. */
  #at = 0;
  /** Whether the frame may be longer than the ring. */
  #wraps = false;
  #blockLimit = largestBlock;

  /** @param module of `loadZstd` */
  constructor(module: WebAssembly.Module) {
    this.#wasm = new WasmDecoder(module);
    this.#start();
  }

  /** Next comes a frame, from its header on. What was left of the one before is forgotten. */
  begin(limits: ZstdLimits): void {
    this.#limits = limits;
    this.#start();
    this.#phase = "header";
  }

  /**
   * Next come blocks of a frame of that window (its log2, 10 to 27) that need nothing that was before them. The decoder has not
   * {@link ended} before the frame's last block.
   */
  beginBlocks(windowLog: number, limits: ZstdLimits & { readonly encodedLength: number }): void {
    this.begin(limits);
    const header = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3);
    this.input.set(header);
    this.given(header.length);
    this.next();
    this.#consumed = 0;
  }

  /**
   * Free memory for compressed bytes, a new view each time, which holds until {@link begin} or {@link next} is called: at least
   * 128 KiB + 3 bytes where {@link next} has given all it could, else it may have no bytes at all.
   */
  get input(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#wasm.buffer, this.#wasm.heap + this.#to, inputLength - this.#to);
  }

  /** So many bytes were put at the start of {@link input}. */
  given(byteLength: number): void {
    if (!(byteLength >= 0 && byteLength <= inputLength - this.#to)) throw new RangeError(`${byteLength} bytes do not fit into the input`);
    this.#to += byteLength;
  }

  /**
   * The next decoded bytes, at most 320 KiB: a view that holds until the next call. `undefined` where more input is needed, or the
   * frame has ended.
   * @throws ZstdDamage
   */
  next(): Uint8Array<ArrayBuffer> | undefined {
    try {
      if (this.#phase === "header") this.#readHeader();
      const piece = this.#phase === "blocks" ? this.#decodePiece() : undefined;
      if (piece === undefined) this.#makeRoom();
      return piece;
    } catch (error) {
      this.#phase = "idle";
      throw error;
    }
  }

  /** Whether the frame is decoded to its end. */
  get ended(): boolean {
    return this.#phase === "ended";
  }

  /** Compressed bytes that were consumed since the frame or the blocks began. */
  get consumed(): number {
    return this.#consumed;
  }

  /** Bytes of all its memory. WebAssembly's memory never shrinks: an owner drops a decoder that has become large. */
  get memoryBytes(): number {
    return this.#wasm.buffer.byteLength;
  }

  /** Throws where the frame has not ended, or bytes that were given do not belong to it. */
  finish(): void {
    const unused = this.#to - this.#from;
    if (!this.ended) throw this.#damage("the end of the data", "the rest of a zstd frame");
    if (unused > 0) throw this.#damage(`${unused} more bytes`, "the end of the zstd frame");
  }

  /**
   * Decodes a whole frame that is in memory.
   * @returns how many bytes it has decoded to; more than `into` takes are damage.
   * @throws ZstdDamage
   */
  decodeFrame(frame: Uint8Array, into: Uint8Array): number {
    this.begin({ longestDecoded: into.length });
    for (let rest = frame; rest.length > 0 && !this.ended; ) {
      const part = rest.subarray(0, inputLength - this.#to);
      this.input.set(part);
      this.given(part.length);
      rest = rest.subarray(part.length);
      for (let piece = this.next(); piece !== undefined; piece = this.next()) into.set(piece, this.#decoded - piece.length);
      if (this.ended && rest.length > 0) throw this.#damage(`${rest.length} more bytes`, "the end of the zstd frame");
    }
    this.finish();
    return this.#decoded;
  }

  /** Where the ring begins. */
  get #ring(): number {
    return this.#wasm.heap + inputLength + margin;
  }

  #start(): void {
    this.#wasm.reach(this.#ring + usualRing + margin);
    this.#wasm.begin();
    this.#needed = this.#wasm.needed;
    this.#from = 0;
    this.#to = 0;
    this.#consumed = 0;
    this.#decoded = 0;
    this.#at = 0;
  }

  #readHeader(): void {
    const header = parseFrameHeader(new Uint8Array(this.#wasm.buffer, this.#wasm.heap + this.#from, this.#to - this.#from));
    if (header === undefined) return;
    if (header.contentSize !== undefined) this.#checkLength(header.contentSize, `${header.contentSize}`);
    this.#makeRing(header);
    this.#blockLimit = blockLimit(header);
    this.#phase = "blocks";
  }

  /** A declared length is a promise that is held at the end. */
  #makeRing({ windowSize, contentSize }: ZstdFrameHeader): void {
    const { decodedLength, longestDecoded } = this.#limits;
    const longest = contentSize ?? decodedLength ?? longestDecoded;
    this.#limits = { ...this.#limits, decodedLength: contentSize ?? decodedLength };
    this.#ringLength = Math.max(usualRing, this.#wasm.ringBytes(windowSize, Math.min(longest, Number.MAX_SAFE_INTEGER)));
    this.#wraps = longest > this.#ringLength;
    this.#wasm.reach(this.#ring + this.#ringLength + margin);
  }

  #decodePiece(): Uint8Array<ArrayBuffer> | undefined {
    if (this.#isFull) this.#at = 0;
    const start = this.#at;
    while (this.#needed > 0 && this.#to - this.#from >= this.#needed) {
      if (this.#at - start >= smallestPiece || (this.#at > start && this.#isFull)) break;
      if (!this.#step()) break;
    }
    if (this.#needed === 0) this.#end();
    return this.#at === start ? undefined : new Uint8Array(this.#wasm.buffer, this.#ring + start, this.#at - start);
  }

  /** Whether the next block may not fit behind the last one. */
  get #isFull(): boolean {
    return this.#wraps && this.#at + this.#blockLimit > this.#ringLength;
  }

  /** Decodes what comes next. False where more input lets it decode two blocks at once. */
  #step(): boolean {
    const [to, room, from] = [this.#ring + this.#at, this.#ringLength - this.#at, this.#wasm.heap + this.#from];
    let [taken, result] = [this.#needed, 0];
    if (taken === blockHeaderLength) {
      const given = this.#to - this.#from;
      result = this.#wasm.decodePair(to, room, from, given);
      const { pairBytes } = this.#wasm;
      if (pairBytes > given && this.#comes(pairBytes)) return false;
      if (result > 0) taken = pairBytes;
    }
    if (result === 0) result = this.#wasm.decode(to, room, from, taken);
    if (result < 0) throw this.#failure(result);
    this.#from += taken;
    this.#consumed += taken;
    this.#at += result;
    this.#decoded += result;
    const { longestDecoded, decodedLength = longestDecoded } = this.#limits;
    if (this.#decoded > Math.min(longestDecoded, decodedLength)) throw this.#wrongLength(`${this.#decoded} or more`);
    this.#needed = this.#wasm.needed;
    return true;
  }

  /** Whether there are so many more compressed bytes, in a valid frame. */
  #comes(byteLength: number): boolean {
    const { encodedLength = Number.POSITIVE_INFINITY } = this.#limits;
    return this.#consumed + byteLength <= encodedLength;
  }

  #end(): void {
    this.#phase = "ended";
    this.#checkLength(this.#decoded, `${this.#decoded}`);
  }

  #checkLength(length: number, received: string): void {
    const { longestDecoded, decodedLength = length } = this.#limits;
    if (length !== decodedLength || length > longestDecoded) throw this.#wrongLength(received);
  }

  #makeRoom(): void {
    if (this.#from === 0) return;
    const input = new Uint8Array(this.#wasm.buffer, this.#wasm.heap, inputLength);
    input.copyWithin(0, this.#from, this.#to);
    this.#to -= this.#from;
    this.#from = 0;
  }

  #failure(code: number): ZstdDamage {
    if (code === noRoom && !this.#wraps) return this.#wrongLength("more");
    return this.#damage(code === wrongChecksum ? "content of another checksum" : `a damaged block (zstd's error ${-code})`);
  }

  #wrongLength(received: string): ZstdDamage {
    const { longestDecoded, decodedLength } = this.#limits;
    const expected = decodedLength === undefined ? `at most ${longestDecoded}` : `${decodedLength}`;
    return this.#damage(received, `${expected} bytes after decoding zstd`);
  }

  #damage(received: string, expected?: string): ZstdDamage {
    return new ZstdDamage(received, { at: this.#consumed, ...(expected === undefined ? {} : { expected }) });
  }
}
