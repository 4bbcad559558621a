import type { ByteRange } from "../../bytes/ranges.js";

/** A Content-Range: the first and the last byte of the part, and the file's size where it is told. */
export interface ContentRange {
  readonly first: number;
  readonly last: number;
  readonly size: number | undefined;
}

/** Reads the header of a part, or `undefined` where it is hidden or malformed. */
export function parseContentRange(header: string | null): ContentRange | undefined {
  const match = /^bytes\s+(\d+)-(\d+)\/(\d+|\*)$/i.exec(header?.trim() ?? "");
  if (match === null) return undefined;
  return { first: Number(match[1]), last: Number(match[2]), size: match[3] === "*" ? undefined : Number(match[3]) };
}

/** The file's size, as the header of a 416 tells it: a star, a slash and the size. */
export function parseUnsatisfiedSize(header: string | null): number | undefined {
  const match = /^bytes\s+\*\/(\d+)$/i.exec(header?.trim() ?? "");
  return match === null ? undefined : Number(match[1]);
}

/** How a part that was sent stands to the range that was asked; `"unknown"` where the header is hidden. */
export function compareRange(header: string | null, { offset, length }: ByteRange): "exact" | "clipped" | "other" | "unknown" {
  const sent = parseContentRange(header);
  if (sent === undefined) return "unknown";
  const last = offset + length - 1;
  if (sent.first !== offset) return "other";
  if (sent.last === last) return "exact";
  return sent.last < last && sent.size === sent.last + 1 ? "clipped" : "other";
}
