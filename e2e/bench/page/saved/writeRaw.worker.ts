import { openSync } from "../opfs.js";
import { savedWord } from "./savedSets.js";

export interface WriteRaw {
  readonly file: FileSystemFileHandle;
  /** Of the arrays, which are written one after another. */
  readonly byteLengths: readonly number[];
}

/** Milliseconds that it took, or what went wrong. */
export type RawWritten = number | string;

const pieceBytes = 4 * 2 ** 20;

addEventListener("message", async ({ data }: MessageEvent<WriteRaw>) => {
  try {
    postMessage((await write(data)) satisfies RawWritten);
  } catch (error) {
    postMessage(String(error) satisfies RawWritten);
  }
});

async function write({ file, byteLengths }: WriteRaw): Promise<number> {
  const bytes = bytesOf(byteLengths);
  const start = performance.now();
  const opened = await openSync(file);
  for (let at = 0; at < bytes.byteLength; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    const written = opened.write(piece);
    if (written !== piece.byteLength) throw new Error(`only ${written} of ${piece.byteLength} bytes could be written`);
  }
  opened.flush();
  opened.close();
  return performance.now() - start;
}

/** The arrays' words, as the GPU makes them. */
function bytesOf(byteLengths: readonly number[]): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(byteLengths.reduce((sum, byteLength) => sum + byteLength, 0) / 4);
  let to = 0;
  for (const [array, byteLength] of byteLengths.entries())
    for (let index = 0; index < byteLength / 4; index += 1) words[to++] = savedWord(array, index);
  return new Uint8Array(words.buffer);
}
