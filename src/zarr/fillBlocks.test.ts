import { expect, test } from "vitest";
import type { Dtype } from "../arrays/dtypes.js";
import { placeBlock } from "../arrays/place.js";
import { memoryStorage } from "../storage/memory.js";
import { fillBlocks } from "./fillBlocks.js";
import { openZarrArray, type ZarrArray } from "./openArray.js";

async function open(members: { shape: number[]; chunks: number[]; dtype: string; fill_value: unknown }): Promise<ZarrArray> {
  const metadata = { compressor: null, filters: null, order: "C", zarr_format: 2, ...members };
  const array = await openZarrArray(memoryStorage({ ".zarray": new TextEncoder().encode(JSON.stringify(metadata)) }), "");
  if (array === undefined) throw new Error("no array");
  return array;
}

function filled(array: ZarrArray, byteLength: number): Uint8Array {
  const target = new Uint8Array(byteLength).fill(99);
  for (const chunk of array.chunks()) for (const block of fillBlocks(array, chunk)) placeBlock(target, array.spec, block);
  return target;
}

test("every element becomes the fill value, also over the edge", async () => {
  const array = await open({ shape: [3, 5], chunks: [2, 4], dtype: ">f4", fill_value: 1.5 });
  expect(new Float32Array(filled(array, 60).buffer)).toEqual(new Float32Array(15).fill(1.5));
  const scalar = await open({ shape: [], chunks: [], dtype: "<i8", fill_value: -1 });
  expect([...filled(scalar, 8)]).toEqual(new Array(8).fill(255));
});

test("blocks are at most 1 MiB, of whole elements", async () => {
  const array = await open({ shape: [70001], chunks: [70001], dtype: "<c16", fill_value: [1, 2] });
  const lengths = [...array.chunks()].flatMap((chunk) => [...fillBlocks(array, chunk)]).map(({ data }) => data.length);
  expect(lengths).toEqual([2 ** 20, 70001 * 16 - 2 ** 20]);
  const numbers = new Float64Array(filled(array, 70001 * 16).buffer);
  expect(numbers.every((value, index) => value === 1 + (index % 2))).toBe(true);
});

test("a chunk far larger than its array gives only the array's elements", async () => {
  const array = await open({ shape: [2, 2], chunks: [2 ** 22, 2 ** 22], dtype: "|u1" satisfies string, fill_value: 7 });
  const blocks = [...array.chunks()].flatMap((chunk) => [...fillBlocks(array, chunk)]);
  expect(blocks.map(({ data }) => data.length)).toEqual([4]);
  expect([...filled(array, 4)]).toEqual([7, 7, 7, 7]);
});

test("an array without elements has no blocks", async () => {
  const array = await open({ shape: [0, 4], chunks: [1, 4], dtype: "bfloat16" satisfies Dtype, fill_value: 1 });
  expect(filled(array, 0)).toEqual(new Uint8Array(0));
});
