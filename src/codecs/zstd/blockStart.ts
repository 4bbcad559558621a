/** What the start of a block tells of it (RFC 8878, 3.1.1.2 and 3.1.1.3). */
export interface ZstdBlock {
  /** Bytes of the block, its header included. */
  readonly byteLength: number;
  readonly decodedLength: number;
  /** The Huffman table that it decodes with: one that it brings, the one of the block before, or none. */
  readonly table: "own" | "previous" | "none";
  readonly isLast: boolean;
}

/** Most bytes of a block that have to be seen: its header, and the one of its literals. */
export const longestStart = 8;

/**
 * Reads the start of a block that refers to nothing decoded before: stored bytes, one byte many times over, or literals only.
 * @param limit most decoded bytes of a block
 * @returns undefined for blocks with sequences, and where bytes are missing or are none of a block
 */
export function blockWithoutSequences(start: Uint8Array, limit: number): ZstdBlock | undefined {
  if (start.length < 3) return undefined;
  const bits = uintAt(start, 0, 3);
  const isLast = (bits & 1) === 1;
  const size = bits >> 3;
  if (size > limit) return undefined;
  switch ((bits >> 1) & 3) {
    case 0:
      return { byteLength: 3 + size, decodedLength: size, table: "none", isLast };
    case 1:
      return { byteLength: 4, decodedLength: size, table: "none", isLast };
    case 2: {
      const literals = literalsOf(start.subarray(3));
      // One byte follows the literals: that there are no sequences.
      if (literals === undefined || literals.byteLength + 1 !== size || literals.decodedLength > limit) return undefined;
      return { byteLength: 3 + size, decodedLength: literals.decodedLength, table: literals.table, isLast };
    }
    default:
      return undefined;
  }
}

interface Literals {
  /** Bytes of the literals section, its header included. */
  readonly byteLength: number;
  readonly decodedLength: number;
  readonly table: ZstdBlock["table"];
}

function literalsOf(section: Uint8Array): Literals | undefined {
  const [first] = section;
  if (first === undefined) return undefined;
  const kind = first & 3;
  const format = (first >> 2) & 3;
  return kind < 2 ? plainLiterals(section, kind === 0, format) : huffmanLiterals(section, kind === 2, format);
}

/** Stored literals, or one many times over: sizes of 5, 12, 5 or 20 bits. */
function plainLiterals(section: Uint8Array, stored: boolean, format: number): Literals | undefined {
  const [headerLength, shift] = (
    [
      [1, 3],
      [2, 4],
      [1, 3],
      [3, 4],
    ] as const
  )[format] ?? [1, 3];
  if (section.length < headerLength) return undefined;
  const decodedLength = uintAt(section, 0, headerLength) >> shift;
  return { byteLength: headerLength + (stored ? decodedLength : 1), decodedLength, table: "none" };
}

/** Huffman-coded literals: decoded and compressed sizes of 10, 10, 14 or 18 bits each, from bit 4 on. */
function huffmanLiterals(section: Uint8Array, ownTable: boolean, format: number): Literals | undefined {
  const [headerLength, sizeBits] = (
    [
      [3, 10],
      [3, 10],
      [4, 14],
      [5, 18],
    ] as const
  )[format] ?? [3, 10];
  if (section.length < headerLength) return undefined;
  const sizes = Math.floor(uintAt(section, 0, headerLength) / 16);
  const decodedLength = sizes % 2 ** sizeBits;
  return { byteLength: headerLength + Math.floor(sizes / 2 ** sizeBits), decodedLength, table: ownTable ? "own" : "previous" };
}

/** Little-endian, up to five bytes. */
function uintAt(bytes: Uint8Array, offset: number, byteLength: number): number {
  let value = 0;
  for (let at = offset + byteLength - 1; at >= offset; at--) value = value * 256 + (bytes[at] ?? 0);
  return value;
}
