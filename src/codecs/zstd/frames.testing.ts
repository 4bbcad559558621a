import Zstd from "numcodecs/zstd";

/** Most decoded bytes of a block. */
export const blockBytes = 128 * 1024;

/** Bytes written as hexadecimal digits, with spaces anywhere. */
export const hex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text.replace(/[\s|]/g, ""), "hex"));

/** Joins bytes. */
export const bytes = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.concat(parts));

/** A frame as libzstd writes it, with its content's length. */
export async function encoded(content: Uint8Array, level = 1): Promise<Uint8Array<ArrayBuffer>> {
  return Uint8Array.from(await Zstd.fromConfig({ id: "zstd", level }).encode(content));
}

/** Numbers from 0 up to 1, the same in each run. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Weights as an untrained layer has them, nearly normally distributed: little-endian float32. */
export function weights(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  const next = random(seed);
  const values = new Float32Array(byteLength / 4);
  for (let index = 0; index < values.length; index++) values[index] = 0.04 * (next() + next() + next() + next() - 2);
  return new Uint8Array(values.buffer);
}

/** The same as bfloat16: the upper halves. */
export function shortWeights(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  const full = new Uint16Array(weights(2 * byteLength, seed).buffer);
  return new Uint8Array(Uint16Array.from({ length: byteLength / 2 }, (_, index) => full[2 * index + 1] ?? 0).buffer);
}

/** Text with matches near and far. */
export function rows(byteLength: number, seed = 1): Uint8Array<ArrayBuffer> {
  const next = random(seed);
  const text: string[] = [];
  for (let length = 0; length < byteLength; ) {
    const row = `row ${Math.floor(next() * 50_000)} of layer ${Math.floor(next() * 40)};`;
    text.push(row);
    length += row.length;
  }
  return Uint8Array.from(Buffer.from(text.join("")).subarray(0, byteLength));
}

/** A frame's header without content size and checksum, for a window of 2^`windowLog` bytes. */
export const header = (windowLog: number) => Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3);

const blockHeader = (kind: number, size: number, last: boolean) => {
  const bits = (size << 3) | (kind << 1) | Number(last);
  return Uint8Array.of(bits & 0xff, (bits >> 8) & 0xff, bits >> 16);
};

/** A block of stored bytes. */
export const rawBlock = (content: Uint8Array, last = false) => bytes(blockHeader(0, content.length, last), content);

/** A block of one byte many times over. */
export const rleBlock = (value: number, count = blockBytes, last = false) => bytes(blockHeader(1, count, last), Uint8Array.of(value));

/** A block of compressed content. */
export const compressedBlock = (content: Uint8Array, last = false) => bytes(blockHeader(2, content.length, last), content);
