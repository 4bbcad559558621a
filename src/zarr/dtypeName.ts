import { type Dtype, dtypes } from "../arrays/dtypes.js";
import { UnsupportedCheckpointError } from "../errors.js";

/** Order of the bytes of each number in a chunk. */
export type ByteOrder = "little" | "big";

/** What a dtype's name in zarr metadata says. */
export interface StoredDtype {
  readonly dtype: Dtype;
  readonly byteOrder: ByteOrder;
}

/**
 * Reads a zarr v2 dtype: numpy's strings (`<f4`, `>i2`, `|b1`) or a bare name (`bfloat16`, `int4`). One-byte dtypes take any
 * prefix, larger ones need `<` or `>`, as TensorStore has it.
 * @throws UnsupportedCheckpointError naming the dtype, the array's file and what is known.
 */
export function parseV2Dtype(name: string, path: string): StoredDtype {
  const known = v2Names.get(name) ?? v2Names.get(name.replace(/^[<>|](?=[a-z]1$)/, "|").replace(/^>(?=[iufc](?:[248]|16)$)/, "<"));
  if (known !== undefined) return { dtype: known, byteOrder: name.startsWith(">") ? "big" : "little" };
  if (/^\|[iufc](?:[248]|16)$/.test(name)) {
    throw new UnsupportedCheckpointError(`${path}: dtype "${name}" has no byte order; it must begin with "<" or ">" (${name.slice(1)})`);
  }
  throw unknown(name, path, v2Names);
}

/**
 * Reads a zarr v3 data type; the order of its bytes stands in the codecs.
 * @throws UnsupportedCheckpointError naming the data type, the array's file and what is known.
 */
export function parseV3Dtype(name: string, path: string): Dtype {
  const known = v3Names.get(name);
  if (known === undefined) throw unknown(name, path, v3Names);
  return known;
}

const namesOf = (version: "v2" | "v3"): ReadonlyMap<string, Dtype> =>
  new Map((Object.keys(dtypes) as Dtype[]).map((dtype) => [dtypes[dtype][version], dtype]));

const v2Names = /* @__PURE__ */ namesOf("v2");
const v3Names = /* @__PURE__ */ namesOf("v3");

const unknown = (name: string, path: string, known: ReadonlyMap<string, Dtype>) =>
  new UnsupportedCheckpointError(
    `${path}: dtype ${JSON.stringify(name)} is none that JAX arrays are saved with (${[...known.keys()].join(", ")})`,
  );
