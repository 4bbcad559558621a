import type { ReadableStorage } from "./storage.js";

/** One thing that every storage must do; `run` rejects where this one does not. */
export interface ConformanceCase<Storage extends ReadableStorage> {
  readonly name: string;
  run(storage: Storage): Promise<void>;
}

/** Bytes that differ from place to place. */
export const bytesOf = (length: number) => Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) % 256);

/** Names that not every place takes as they are. */
export const names = [
  "naïve ünïcode 漢字 🎲",
  "100%",
  "%41",
  "a b",
  "#hash",
  "q?x=1&y",
  "semi;colon",
  "plus+",
  "'quote\"",
  ".hidden",
  "[x]",
  "~t",
  "a:b",
];

/** More than one piece of a stream. */
export const large = bytesOf(3 * 1024 * 1024 + 17);
export const top = bytesOf(1000);

/** The files that a storage under test holds, and no others. */
export const conformanceFiles: ReadonlyMap<string, Uint8Array> = new Map([
  ["top.bin", top],
  ["empty", new Uint8Array()],
  ["run/10/model/d/0a", large],
  ["run/10/_METADATA", new TextEncoder().encode("{}")],
  ["run/2/x", bytesOf(3)],
  ["run/note", bytesOf(5)],
  ["runner/other", bytesOf(4)],
  ...names.map((name, index): [string, Uint8Array] => [`odd/${name}/${name}`, bytesOf(20 + index)]),
]);

/** What is no path inside a storage. */
export const invalidPaths = ["", "/top.bin", "top.bin/", "run//note", "../top.bin", "run/../top.bin", "./top.bin", "run/.", "..", "nul\0"];
