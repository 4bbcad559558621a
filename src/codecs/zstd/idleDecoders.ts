import { ZstdDecoder } from "./decoder.js";
import { loadZstd } from "./loadZstd.js";

/** Decoders that wait for the next frame. */
const idle: ZstdDecoder[] = [];
const mostIdle = 4;
/** A decoder whose memory has become larger is not kept: WebAssembly gives none back. */
const largestIdle = 16 * 1024 * 1024;

/** A decoder for one frame, to be given back; `undefined` where WebAssembly is missing or forbidden. */
export async function takeDecoder(): Promise<ZstdDecoder | undefined> {
  const module = await loadZstd();
  return module === undefined ? undefined : (idle.pop() ?? new ZstdDecoder(module));
}

/** Keeps a decoder for the next frame, unless there are enough or it is too large. */
export function giveBackDecoder(decoder: ZstdDecoder): void {
  if (idle.length < mostIdle && decoder.memoryBytes <= largestIdle) idle.push(decoder);
}
