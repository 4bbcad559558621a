import { crc32c } from "../../bytes/crc32c.js";

/** A folder's name for a path or an address: readable, short, of letters that every file system takes, and hardly another's. */
export function folderName(text: string): string {
  const readable = text.replace(/[^A-Za-z0-9._-]+/g, "_").slice(-80);
  return `${readable}-${checksum(text)}`;
}

/** A lock's name for what is locked; that two share one does no harm. */
export const lockName = (...parts: readonly (string | number)[]): string => `mirror-${checksum(parts.join("\n"))}`;

const checksum = (text: string): string => crc32c(new TextEncoder().encode(text)).toString(16).padStart(8, "0");
