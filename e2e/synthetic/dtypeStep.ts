import Zstd from "numcodecs/zstd";
import { type Dtype, dtypes } from "../../src/arrays/dtypes.js";
import { randomFrom } from "../page/random.js";
import { castVectors } from "./castStep.js";
import type { MadeArray } from "./stepFiles.js";

/** An array, what it is to become, and the bytes that it has then. */
export interface DtypeCase {
  readonly array: MadeArray;
  readonly to: Dtype;
  readonly expected: Uint8Array;
}

/** Elements of a chunk: a prime, so that vectors begin anywhere in chunks and in what these are read in. */
const chunkElements = 100_003;
const elements = 250_001;

/** Arrays of several chunks of each kind that takes more than a copy: casts, big endian, bools, numbers of 4 bits; zstd frames and bare. */
export async function dtypeCases(): Promise<DtypeCase[]> {
  const cases: DtypeCase[] = [];
  for (const compressed of [true, false]) {
    for (const [from, to] of [
      ["float64", "float32"],
      ["bfloat16", "float32"],
      ["float32", "bfloat16"],
      ["int4", "float32"],
      ["bool", "float32"],
    ] as const) {
      const { input, output } = castVectors(from, to);
      cases.push(await makeCase({ from, to, stored: tiled(input, from), expected: tiled(output, to), compressed }));
    }
    const bools = randomFrom(2)
      .bytes(elements)
      .map((byte) => byte & 1);
    const nibbles = randomFrom(3).bytes(elements);
    const words = randomFrom(4).bytes(4 * elements);
    const swapped = reversed(words, 4);
    const { input, output } = castVectors("float64", "float32");
    cases.push(
      await makeCase({ from: "bool", to: "bool", stored: bools, expected: bools, compressed }),
      await makeCase({ from: "int4", to: "int4", stored: nibbles, expected: nibbles.map((byte) => (byte << 28) >> 28), compressed }),
      await makeCase({ from: "uint4", to: "uint4", stored: nibbles, expected: nibbles.map((byte) => byte & 15), compressed }),
      await makeCase({ from: "uint32", to: "uint32", stored: swapped, expected: words, compressed, byteOrder: "big" }),
      await makeCase({
        from: "float64",
        to: "float32",
        stored: reversed(tiled(input, "float64"), 8),
        expected: tiled(output, "float32"),
        compressed,
        byteOrder: "big",
      }),
    );
  }
  return cases;
}

/** A vector again and again. */
function tiled(vector: Uint8Array, dtype: Dtype): Uint8Array {
  const bytes = new Uint8Array(elements * dtypes[dtype].itemsize);
  for (let at = 0; at < bytes.length; at += vector.length) bytes.set(vector.subarray(0, bytes.length - at), at);
  return bytes;
}

/** Each element's bytes in the other order. */
function reversed(bytes: Uint8Array, itemsize: number): Uint8Array {
  const other = new Uint8Array(bytes.length);
  for (let index = 0; index < bytes.length; index++) {
    const within = index % itemsize;
    other[index - within + itemsize - 1 - within] = bytes[index] ?? 0;
  }
  return other;
}

async function makeCase({
  from,
  to,
  stored,
  expected,
  compressed,
  byteOrder,
}: {
  readonly from: Dtype;
  readonly to: Dtype;
  readonly stored: Uint8Array;
  readonly expected: Uint8Array;
  readonly compressed: boolean;
  readonly byteOrder?: "big";
}): Promise<DtypeCase> {
  const name = `${byteOrder ?? "little"} ${from} to ${to}, ${compressed ? "zstd" : "bare"}`;
  const length = chunkElements * dtypes[from].itemsize;
  const chunks: Uint8Array[][] = [];
  for (let at = 0; at < stored.length; at += length) {
    const chunk = new Uint8Array(length);
    chunk.set(stored.subarray(at, at + length));
    chunks.push([compressed ? await Zstd.fromConfig({ id: "zstd", level: 1 }).encode(chunk) : chunk]);
  }
  const array = { name, dtype: from, byteOrder, shape: [elements], chunkShape: [chunkElements], compressed, chunks };
  return { array, to, expected };
}
