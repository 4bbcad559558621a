/** What a msgpack value begins with: the value itself, or how long it is. */
export type Head =
  | { readonly kind: "nil" }
  | { readonly kind: "bool"; readonly value: boolean }
  /** A bigint where a number would not hold it. */
  | { readonly kind: "int"; readonly value: number | bigint }
  | { readonly kind: "float"; readonly value: number }
  /** Bytes that follow; of a string they are UTF-8. */
  | { readonly kind: "string" | "binary"; readonly length: number }
  /** Values that follow, or pairs of them. */
  | { readonly kind: "array" | "map"; readonly count: number }
  | { readonly kind: "extension"; readonly type: number; readonly length: number };

/** The longest head: a 64-bit number. */
const longestHead = 9;

/** Bytes behind the first one, from `0xc0` to `0xdf`. */
const following = [0, 0, 0, 0, 1, 2, 4, 2, 3, 5, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 1, 1, 1, 1, 2, 4, 2, 4, 2, 4];

/** Bytes of a head that begins with this one. */
export const headLength = (first: number): number => 1 + (first >= 0xc0 && first < 0xe0 ? (following[first - 0xc0] ?? 0) : 0);

/**
 * Reads a head (https://github.com/msgpack/msgpack/blob/master/spec.md).
 * @param bytes {@link headLength} of them.
 * @returns undefined for the one byte that begins nothing, `0xc1`.
 */
export function readHead(bytes: Uint8Array): Head | undefined {
  const first = bytes[0] ?? 0xc1;
  if (first < 0x80) return { kind: "int", value: first };
  if (first < 0x90) return { kind: "map", count: first & 0x0f };
  if (first < 0xa0) return { kind: "array", count: first & 0x0f };
  if (first < 0xc0) return { kind: "string", length: first & 0x1f };
  if (first >= 0xe0) return { kind: "int", value: first - 0x100 };
  return readLongHead(first, new DataView(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, longestHead)));
}

function readLongHead(first: number, view: DataView): Head | undefined {
  if (first === 0xc0) return { kind: "nil" };
  if (first === 0xc1) return undefined;
  if (first <= 0xc3) return { kind: "bool", value: first === 0xc3 };
  if (first <= 0xc6) return { kind: "binary", length: unsigned(view, first - 0xc4) };
  if (first <= 0xc9) return { kind: "extension", length: unsigned(view, first - 0xc7), type: view.getInt8(view.byteLength - 1) };
  if (first <= 0xcb) return { kind: "float", value: first === 0xca ? view.getFloat32(1) : view.getFloat64(1) };
  if (first <= 0xcf) return integer(first === 0xcf ? view.getBigUint64(1) : unsigned(view, first - 0xcc));
  if (first <= 0xd3) return integer(signed(view, first - 0xd0));
  if (first <= 0xd8) return { kind: "extension", length: 2 ** (first - 0xd4), type: view.getInt8(1) };
  if (first <= 0xdb) return { kind: "string", length: unsigned(view, first - 0xd9) };
  return { kind: first <= 0xdd ? "array" : "map", count: unsigned(view, 1 + (first % 2)) };
}

const integer = (value: number | bigint): Head => ({
  kind: "int",
  value: Number.isSafeInteger(Number(value)) ? Number(value) : value,
});

/** The integer of 2^size bytes behind the first one, big endian. */
function unsigned(view: DataView, size: number): number {
  if (size === 0) return view.getUint8(1);
  return size === 1 ? view.getUint16(1) : view.getUint32(1);
}

function signed(view: DataView, size: number): number | bigint {
  if (size === 0) return view.getInt8(1);
  if (size === 1) return view.getInt16(1);
  return size === 2 ? view.getInt32(1) : view.getBigInt64(1);
}
