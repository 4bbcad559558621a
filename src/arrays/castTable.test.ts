import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { CastIndex, CastPlace } from "../../e2e/fixtures/castIndex.js";
import { castFrom } from "./cast.js";
import { type Dtype, dtypes, isSavable } from "./dtypes.js";

/** The table that TensorStore made, and that real substrax agrees with (`e2e/fixtures/casts.py`). */
const folder = new URL("../../e2e/fixtures/data/casts/", import.meta.url);
const table = new Uint8Array(readFileSync(new URL("table.bin", folder)));
const index: CastIndex = JSON.parse(readFileSync(new URL("index.json", folder), "utf8"));

/** C++ leaves the value undefined, and it lies outside of int32 or is NaN. */
const beyondInt32 = 2;

const bytesAt = ({ offset, byteLength }: CastPlace) => table.subarray(offset, offset + byteLength);

/** Elements as hexadecimal texts, so that NaNs and signs of zero count. */
function elements(bytes: Uint8Array, itemsize: number): string[] {
  const hex = Buffer.from(bytes).toString("hex");
  return hex.match(new RegExp(`.{${2 * itemsize}}`, "g")) ?? [];
}

const dtypesOfTable = Object.keys(index.inputs) as Dtype[];

test("the table has every pair of dtypes that this package casts, but those of uint2 and uint4, which TensorStore lacks", () => {
  const told = new Set([...index.pairs.map(({ from, to }) => `${from} ${to}`), ...index.refused.map(([from, to]) => `${from} ${to}`)]);
  const all = (Object.keys(dtypes) as Dtype[]).filter(isSavable);
  const casts = all.flatMap((from) => all.filter((to) => from !== to && castFrom(from, to) !== undefined).map((to) => `${from} ${to}`));
  expect(casts.filter((pair) => !told.has(pair))).toEqual([]);
});

test.each(dtypesOfTable)("casts from %s are TensorStore's, bit for bit", (from) => {
  const source = bytesAt(index.inputs[from] ?? { offset: 0, byteLength: 0 });
  const pairs = index.pairs.filter((pair) => pair.from === from);
  expect(pairs.length).toBeGreaterThan(20);
  for (const { to, classes, ...place } of pairs) {
    const expected = elements(bytesAt(place), dtypes[to].itemsize);
    const given = elements(castFrom(from, to)?.(source) ?? new Uint8Array(0), dtypes[to].itemsize);
    // TensorStore's own answer for float to uint32 beyond int64 and below 0 depends on where in the array the element stands.
    const known = classes === undefined || to !== "uint32" ? undefined : bytesAt(classes);
    for (const [at, wanted] of expected.entries()) if (known?.[at] === beyondInt32) expected[at] = given[at] ?? wanted;
    expect(given, `${from} to ${to}`).toEqual(expected);
  }
});

test.each([
  ["uint2", 3],
  ["uint4", 15],
] as const)("casts to %s are the low bits of TensorStore's uint8, casts from it those of its integers", (dtype, most) => {
  let compared = 0;
  for (const { from, to, ...place } of index.pairs) {
    if (to !== "uint8") continue;
    const source = bytesAt(index.inputs[from] ?? { offset: 0, byteLength: 0 });
    expect(castFrom(from, dtype)?.(source), from).toEqual(bytesAt(place).map((byte) => byte & most));
    compared += place.byteLength;
  }
  expect(compared).toBeGreaterThan(1000);
  const codes = Uint8Array.from({ length: most + 1 }, (_, code) => code);
  for (const { from, to } of index.pairs)
    if (from === "uint8") expect(castFrom(dtype, to)?.(codes), to).toEqual(castFrom("uint8", to)?.(codes));
});

test("what TensorStore does not cast, this package does not either", () => {
  for (const [from, to] of index.refused) expect(castFrom(from, to), `${from} to ${to}`).toBeUndefined();
});
