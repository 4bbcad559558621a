import { elementCount } from "../arrays/spec.js";
import { CorruptCheckpointError } from "../errors.js";
import type { RawDocument } from "./rawDocument.js";

/** What zarrita reads of an array. */
export interface RawArray {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Brings the decompressed bytes of a chunk into C order, through the array's own codecs. */
  toRowMajor(bytes: Uint8Array): Promise<Uint8Array>;
}

/**
 * Opens relabelled metadata with zarrita.
 * @throws CorruptCheckpointError, with zarrita's error as cause, for metadata that it refuses.
 */
export async function openRawArray(document: RawDocument, path: string): Promise<RawArray> {
  const { open } = await import("zarrita"); // a file that cannot be loaded is no fault of the array's
  const { shape, chunks } = await openWith(open, document, undefined).catch((cause: unknown) => {
    throw new CorruptCheckpointError({ path, expected: "metadata of a zarr array", received: "metadata that zarrita refuses", cause });
  });
  return {
    shape,
    chunkShape: chunks,
    async toRowMajor(bytes) {
      // An array of its own for each chunk: its store holds just this chunk, so that chunks can be decoded at once.
      const array = await openWith(open, document, bytes);
      const chunk = await array.getChunk(chunks.map(() => 0));
      return rowMajor(viewOf(chunk.data), chunk.shape, chunk.stride);
    },
  };
}

/** A store of one array with one chunk, whatever the key it is asked for. */
async function openWith(open: typeof import("zarrita").open, document: RawDocument, chunk: Uint8Array | undefined) {
  const metadata = new TextEncoder().encode(JSON.stringify(document));
  const isMetadata = (key: string) => key.endsWith(document.zarr_format === 2 ? "/.zarray" : "/zarr.json");
  const store = { get: async (key: string) => (isMetadata(key) ? metadata : chunk) };
  return document.zarr_format === 2 ? open.v2(store, { kind: "array", attrs: false }) : open.v3(store, { kind: "array" });
}

function viewOf(data: unknown): Uint8Array {
  const { buffer, byteOffset, byteLength } = data as { buffer: ArrayBuffer; byteOffset: number; byteLength: number };
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Gathers elements that lie `stride` elements apart along each axis into C order, in fresh memory. */
function rowMajor(bytes: Uint8Array, shape: readonly number[], stride: readonly number[]): Uint8Array {
  const count = elementCount(shape);
  const itemsize = bytes.length / count;
  const result = new Uint8Array(bytes.length);
  const indices = shape.map(() => 0);
  let from = 0;
  for (let to = 0; to < result.length; to += itemsize) {
    for (let byte = 0; byte < itemsize; byte++) result[to + byte] = bytes[from * itemsize + byte] ?? 0;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const next = (indices[axis] ?? 0) + 1;
      indices[axis] = next === shape[axis] ? 0 : next;
      from += next === shape[axis] ? (stride[axis] ?? 0) * (1 - next) : (stride[axis] ?? 0);
      if (next !== shape[axis]) break;
    }
  }
  return result;
}
