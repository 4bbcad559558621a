import { ZSTDDecoder } from "zstddec/stream";

/** Functions of libzstd; addresses are those of its memory. */
export interface LibzstdFunctions {
  readonly memory: WebAssembly.Memory;
  /** 0 where there is no memory left. */
  malloc(byteLength: number): number;
  free(address: number): void;
  /** 0 where there is no memory left. */
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /** Takes the addresses of a ZSTD_outBuffer and a ZSTD_inBuffer; 0 at the frame's end, negative for an error. */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** libzstd in WebAssembly. */
export interface Libzstd {
  /** Decodes a frame in one go into at most `longest` bytes, at least 1; no bytes for a damaged one. */
  decode(frame: Uint8Array, longest: number): Uint8Array;
  /** Undefined where something else on the page had started this copy of zstddec before. */
  readonly functions: LibzstdFunctions | undefined;
}

let loading: Promise<Libzstd | undefined> | undefined;

/**
 * libzstd, made on first use; `undefined` where the page forbids it (a CSP without `'wasm-unsafe-eval'`, or without
 * `connect-src data:`, by which zstddec loads itself). zstddec remembers a failed start, so it is not tried again.
 */
export function loadLibzstd(): Promise<Libzstd | undefined> {
  loading ??= startLibzstd();
  return loading;
}

async function startLibzstd(): Promise<Libzstd | undefined> {
  let functions: LibzstdFunctions | undefined;
  const decoder = new ZSTDDecoder();
  // zstddec's own way to stream allocates each piece, and cannot free a decoder that met an error.
  decoder._init = (result) => {
    // WebAssembly's types know exports only by name; the pinned zstddec exports these.
    functions = result.instance.exports as unknown as LibzstdFunctions;
    ZSTDDecoder.prototype._init(result);
  };
  return decoder.init().then(
    () => ({ decode: (frame, longest) => decoder.decode(frame, longest), functions }),
    () => undefined,
  );
}
