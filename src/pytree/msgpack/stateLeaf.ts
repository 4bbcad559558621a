import type { Dtype } from "../../arrays/dtypes.js";
import type { ByteRange } from "../../bytes/ranges.js";
import type { ValueType } from "../treeMetadata.js";

/** An array whose elements lie within the file: little endian, C order, in one run or in several. */
export interface StateArray {
  readonly kind: "array";
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly ranges: readonly ByteRange[];
  /** Whether it was a number of numpy. */
  readonly isScalar: boolean;
}

/** A Python number. */
export interface StateNumber {
  readonly kind: "number";
  readonly dtype: "bool" | "int64" | "uint64" | "float64" | "complex128";
  /** The element, little endian. */
  readonly bytes: Uint8Array;
  /** Where in the file it is. */
  readonly offset: number;
}

/** A leaf or empty node of a state file. */
export type StateLeaf =
  | StateArray
  | StateNumber
  | { readonly kind: "string"; readonly value: string }
  /** A leaf whose array, or text, lies outside the file under this name. */
  | { readonly kind: "stored"; readonly name: string }
  | { readonly kind: "empty"; readonly valueType: ValueType };

/** What marks a leaf that lies outside. */
const mark = /^(?:PLACEHOLDER|AGGREGATED):\/\//;

/** A text, or what it stands for. */
export function textLeaf(text: string): StateLeaf {
  const [found] = mark.exec(text) ?? [];
  return found === undefined ? { kind: "string", value: text } : { kind: "stored", name: text.slice(found.length) };
}

/** A Python number as the element of an array. */
export function numberLeaf(value: boolean | number | bigint, isFloat: boolean, offset: number): StateNumber {
  if (typeof value === "boolean") return { kind: "number", dtype: "bool", bytes: Uint8Array.of(value ? 1 : 0), offset };
  if (isFloat) return { kind: "number", dtype: "float64", bytes: bytesOf(Float64Array.of(Number(value))), offset };
  const whole = BigInt(value);
  return {
    kind: "number",
    dtype: whole >= 2n ** 63n ? "uint64" : "int64",
    bytes: bytesOf(BigUint64Array.of(BigInt.asUintN(64, whole))),
    offset,
  };
}

export const complexLeaf = (real: number, imaginary: number, offset: number): StateNumber => ({
  kind: "number",
  dtype: "complex128",
  bytes: bytesOf(Float64Array.of(real, imaginary)),
  offset,
});

const bytesOf = ({ buffer }: { readonly buffer: ArrayBuffer }): Uint8Array => new Uint8Array(buffer);
