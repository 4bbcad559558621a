import { expect } from "playwright/test";
import type { DemoLeaf } from "../../demo/report.mjs";

/** A leaf of a fixture's `expected.json`, as far as the digits have them. */
interface FixtureLeaf {
  readonly path: readonly (string | number)[];
  readonly kind: "array" | "key" | "int" | "float" | "bool" | "string" | "none";
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly byteLength: number;
  readonly hex?: string;
  readonly impl: string;
  readonly value: string | boolean;
}

/** What the page's report must say of a step's items; the first values too where the fixture has the bytes themselves. */
export const expectedLeaves = (items: Readonly<Record<string, readonly FixtureLeaf[]>>): unknown[] =>
  Object.entries(items).flatMap(([item, leaves]) =>
    leaves.filter(({ kind }) => kind !== "none").map((leaf) => ({ path: [item, ...leaf.path].join("/"), ...described(leaf) })),
  );

function described({
  kind,
  dtype,
  shape,
  byteLength,
  hex,
  impl,
  value,
}: FixtureLeaf): Omit<DemoLeaf, "path" | "first"> & { first: unknown } {
  const first = () => (hex === undefined ? expect.any(Array) : firstValues(dtype, Buffer.from(hex, "hex")));
  switch (kind) {
    case "array":
      return { dtype, shape, bytes: byteLength, first: first() };
    case "key":
      return { dtype, shape, bytes: byteLength, first: `${impl} ${first().join(", ")}` };
    case "int":
      return { dtype: "int64", shape: [], bytes: 8, first: [Number(value)] };
    case "float":
      return { dtype: "float64", shape: [], bytes: 8, first: [Number(value)] };
    case "bool":
      return { dtype: "bool", shape: [], bytes: 1, first: String(value) };
    case "string":
      return { dtype: "str", shape: [], bytes: Buffer.byteLength(String(value)), first: JSON.stringify(value) };
    case "none":
      throw new Error("None is no leaf");
    default:
      return kind satisfies never;
  }
}

function firstValues(dtype: string, bytes: Buffer): number[] {
  const read = { float32: bytes.readFloatLE, int32: bytes.readInt32LE, uint32: bytes.readUInt32LE }[dtype];
  if (read === undefined) throw new Error(`the digits have no ${dtype}`);
  return Array.from({ length: Math.min(4, bytes.byteLength / 4) }, (_, index) => read.call(bytes, index * 4));
}
