import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Dtype, dtypes } from "../../src/arrays/dtypes.js";
import type { CastIndex, CastPlace } from "../fixtures/castIndex.js";
import type { MadeArray } from "./stepFiles.js";

/** What a cast on its way to a device should give. */
export interface ExpectedCast {
  /** Of the array in the made step. */
  readonly name: string;
  readonly to: Dtype;
  readonly count: number;
  readonly hex: string;
  /** Elements whose value is a matter of the machine that made the table. */
  readonly undefinedElements: readonly number[];
}

const folder = join(import.meta.dirname, "..", "fixtures", "data", "casts");
const table = readFileSync(join(folder, "table.bin"));
const index: CastIndex = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));

const bytesAt = ({ offset, byteLength }: CastPlace) => table.subarray(offset, offset + byteLength);

/** An array a pair of dtypes, holding the input vector of the first in two chunks, and what it becomes as the second. */
export function castStep(): { readonly arrays: readonly MadeArray[]; readonly expected: readonly ExpectedCast[] } {
  return {
    arrays: index.pairs.map(({ from, to }) => inputArray(from, to)),
    expected: index.pairs.map((pair) => ({
      name: nameOf(pair.from, pair.to),
      to: pair.to,
      count: index.inputs[pair.from]?.count ?? 0,
      hex: bytesAt(pair).toString("hex"),
      undefinedElements: undefinedElements(pair),
    })),
  };
}

/** An array a pair that TensorStore does not cast. */
export const refusedCasts = (): readonly { readonly array: MadeArray; readonly to: Dtype }[] =>
  index.refused
    .filter(([from, to]) => from in dtypes && to in dtypes && index.inputs[from] !== undefined)
    .map(([from, to]) => ({ array: inputArray(from, to), to }));

/** The input vector of a pair of dtypes, and what it becomes; both as bytes. */
export function castVectors(from: Dtype, to: Dtype): { readonly input: Uint8Array; readonly output: Uint8Array } {
  const pair = index.pairs.find((some) => some.from === from && some.to === to);
  const input = index.inputs[from];
  if (pair === undefined || input === undefined) throw new Error(`the table has no cast from ${from} to ${to}`);
  return { input: bytesAt(input), output: bytesAt(pair) };
}

const nameOf = (from: Dtype, to: Dtype) => `${from} to ${to}`;

function inputArray(from: Dtype, to: Dtype): MadeArray {
  const place = index.inputs[from];
  if (place === undefined) throw new Error(`the table has no input of ${from}`);
  const { count } = place;
  const length = Math.ceil(count / 2);
  const bytes = new Uint8Array(2 * length * dtypes[from].itemsize);
  bytes.set(bytesAt(place));
  const half = bytes.byteLength / 2;
  const chunks = [[bytes.subarray(0, half)], [bytes.subarray(half)]].slice(0, Math.ceil(count / length));
  return { name: nameOf(from, to), dtype: from, shape: [count], chunkShape: [length], compressed: false, chunks };
}

/** TensorStore's own answer for float to uint32 beyond int64 and below 0 depends on where in the array the element stands. */
function undefinedElements({ to, classes }: CastIndex["pairs"][number]): number[] {
  if (to !== "uint32" || classes === undefined) return [];
  return Array.from(bytesAt(classes).entries()).flatMap(([element, kind]) => (kind === 2 ? [element] : []));
}
