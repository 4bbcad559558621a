import { expect, test } from "vitest";
import { type Dtype, dtypes, isDtype, isSavable, narrowDtype } from "./dtypes.js";

test("sizes agree: bits fit the item, the swap unit and the host element divide it", () => {
  for (const { itemsize, bits, unit, host } of Object.values(dtypes)) {
    expect(bits).toBeLessThanOrEqual(itemsize * 8);
    expect(itemsize % unit).toBe(0);
    expect(host.BYTES_PER_ELEMENT).toBe(unit);
  }
});

test("names in zarr are unambiguous", () => {
  for (const version of ["v2", "v3"] as const) {
    const names = Object.values(dtypes).map((dtype) => dtype[version]);
    expect(new Set<string>(names).size).toBe(names.length);
  }
});

test("only names of the table are dtypes", () => {
  expect(isDtype("float8_e4m3fn")).toBe(true);
  for (const name of ["float8_e4m3", "uint1", "constructor", "__proto__", ""]) expect(isDtype(name)).toBe(false);
});

test("Orbax saves all but uint2 and uint4", () => {
  expect((Object.keys(dtypes) as Dtype[]).filter((dtype) => !isSavable(dtype))).toEqual(["uint2", "uint4"]);
});

test("without x64 the four 64-bit dtypes are halved and the others stay", () => {
  const changed = (Object.keys(dtypes) as Dtype[]).filter((dtype) => narrowDtype(dtype) !== dtype);
  expect(changed.map((dtype) => [dtype, narrowDtype(dtype)])).toEqual([
    ["int64", "int32"],
    ["uint64", "uint32"],
    ["float64", "float32"],
    ["complex128", "complex64"],
  ]);
});
