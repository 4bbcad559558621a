import { type Dtype, dtypes } from "../arrays/dtypes.js";
import { loadCast } from "../arrays/loadCast.js";
import type { JsonValue } from "../bytes/json.js";
import type { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { ByteOrder } from "./dtypeName.js";
import { readElements } from "./elements.js";

/** A fill value of zarr metadata, and what it belongs to. */
export interface StoredFill {
  readonly value: JsonValue;
  /** The same value, which knows its place in errors. */
  readonly member: JsonMember;
  readonly dtype: Dtype;
  readonly byteOrder: ByteOrder;
  readonly path: string;
}

/**
 * The element that stands in chunks that were left out, little endian. Reads null (zero), numbers, `"NaN"`, `"Infinity"`,
 * `"-Infinity"`, bools, `[re, im]`, base64 of the element as it is stored (v2) and `"0x…"`, its bits (v3). A promise where a float has to be
 * rounded: the code for that is loaded then.
 * @throws CorruptCheckpointError for a value that the dtype cannot hold.
 */
export function parseFillValue(fill: StoredFill): Uint8Array | Promise<Uint8Array> {
  const { value, member, dtype } = fill;
  const { itemsize, kind, bits } = dtypes[dtype];
  if (value === null) return new Uint8Array(itemsize);
  if (typeof value === "string" && (kind !== "float" || !Object.hasOwn(specials, value))) return storedElement(value, fill);
  switch (kind) {
    case "bool":
      return Uint8Array.of(member.boolean() ? 1 : 0);
    case "int":
    case "uint":
      return integerElement(value, fill, Math.max(bits, 8));
    case "float":
      return floatElement([floatOf(value, fill)], dtype, fill);
    case "complex":
      return floatElement(complexParts(value, fill), dtype === "complex64" ? "float32" : "float64", fill);
    default:
      return kind satisfies never;
  }
}

const specials = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, "-Infinity": Number.NEGATIVE_INFINITY } as const;

function storedElement(text: string, { member, dtype, byteOrder, path }: StoredFill): Uint8Array {
  const { itemsize } = dtypes[dtype];
  const hex = new RegExp(`^0x[0-9a-fA-F]{${2 * itemsize}}$`).test(text);
  const bytes = hex ? hexBytes(text.slice(2)) : base64Bytes(text);
  if (bytes?.length !== itemsize) return member.fail(`a ${dtype}, or base64 of its ${itemsize} bytes`);
  return readElements(bytes, dtype, hex ? "little" : byteOrder, { path, offset: 0 }).slice();
}

/** Bytes of a hexadecimal number, lowest first. */
const hexBytes = (digits: string): Uint8Array => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)).reverse();

function base64Bytes(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function integerElement(value: JsonValue, { member, dtype, path }: StoredFill, bits: number): Uint8Array {
  const whole = typeof value === "bigint" || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : undefined;
  const signed = dtypes[dtype].kind === "int";
  const lowest = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  if (whole === undefined || whole < lowest || whole >= lowest + 2n ** BigInt(bits)) return member.fail(`an integer that ${dtype} holds`);
  const bytes = new Uint8Array(BigUint64Array.of(BigInt.asUintN(64, whole)).buffer, 0, dtypes[dtype].itemsize);
  return readElements(bytes, dtype, "little", { path, offset: 0 }).slice();
}

function floatOf(value: JsonValue, { member, dtype }: StoredFill): number {
  const special = typeof value === "string" && Object.hasOwn(specials, value) ? specials[value as keyof typeof specials] : undefined;
  return special ?? (typeof value === "number" || typeof value === "bigint" ? Number(value) : member.fail(`a number for ${dtype}`));
}

function complexParts(value: JsonValue, fill: StoredFill): number[] {
  if (!Array.isArray(value) || value.length !== 2) return fill.member.fail("a real and an imaginary part");
  return value.map((part) => floatOf(part, fill));
}

/** One float, or the two of a complex number. */
function floatElement(numbers: readonly number[], part: Dtype, fill: StoredFill): Uint8Array | Promise<Uint8Array> {
  if (numbers.every((number) => Object.is(number, 0))) return new Uint8Array(dtypes[fill.dtype].itemsize);
  return roundedElement(numbers, part, fill);
}

async function roundedElement(numbers: readonly number[], part: Dtype, { dtype, path }: StoredFill): Promise<Uint8Array> {
  const { castFrom } = await loadCast();
  const element = castFrom("float64", part)?.(new Uint8Array(Float64Array.from(numbers).buffer));
  if (element !== undefined) return element;
  // float8_e8m0fnu has no zero; Orbax writes 0 all the same, and TensorStore takes it for the byte 0.
  if (numbers[0] === 0) return new Uint8Array(dtypes[dtype].itemsize);
  throw new UnsupportedCheckpointError(
    `${path}: fill_value ${numbers[0]} of ${dtype} is not read; write the array again with a number that the dtype has, or null`,
  );
}
