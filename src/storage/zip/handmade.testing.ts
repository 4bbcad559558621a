import { deflateRawSync } from "node:zlib";
import crc32 from "crc-32";

/** What of an entry is not as it should be, or not the usual. */
export interface HandmadeEntry {
  readonly path: string;
  readonly bytes?: Uint8Array;
  readonly deflated?: boolean;
  /** Unix mode: 0o120777 is a symbolic link. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** What the headers say instead of the truth. */
  readonly says?: { readonly length?: number; readonly crc?: number; readonly offset?: number };
}

/** A ZIP with these entries, whatever is wrong with them. */
export function handmadeZip(entries: readonly HandmadeEntry[]): Blob {
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  let at = 0;
  for (const entry of entries) {
    const name = new TextEncoder().encode(entry.path);
    const bytes = entry.bytes ?? new Uint8Array();
    const stored = entry.deflated ? deflateRawSync(bytes) : bytes;
    const facts = [
      ...u16(20, (entry.flags ?? 0) | 0x800, entry.method ?? (entry.deflated ? 8 : 0), 0, 0x21),
      ...u32(entry.says?.crc ?? crc32.buf(bytes) >>> 0, stored.length, entry.says?.length ?? bytes.length),
      ...u16(name.length, 0),
    ];
    const local = Uint8Array.of(...u32(0x04034b50), ...facts, ...name);
    const mode = ((entry.mode ?? 0o100644) << 16) >>> 0;
    const rest = [...u16(0, 0, 0), ...u32(mode, entry.says?.offset ?? at)];
    locals.push(local, stored);
    centrals.push(Uint8Array.of(...u32(0x02014b50), ...u16(0x0314), ...facts, ...rest, ...name));
    at += local.length + stored.length;
  }
  const length = centrals.reduce((sum, central) => sum + central.length, 0);
  const end = Uint8Array.of(...u32(0x06054b50), ...u16(0, 0, entries.length, entries.length), ...u32(length, at), ...u16(0));
  return new Blob([...locals, ...centrals, end] as BlobPart[]);
}

const u16 = (...values: readonly number[]): number[] => values.flatMap((value) => [value & 255, value >>> 8]);

const u32 = (...values: readonly number[]): number[] => values.flatMap((value) => u16(value & 0xffff, value >>> 16));
