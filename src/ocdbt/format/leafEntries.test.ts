import { expect, test } from "vitest";
import { LeafEntries, type LeafEntry } from "./leafEntries.js";

test("gives the entries that it was made of, one by one and by column", () => {
  const entries: LeafEntry[] = [
    { key: Uint8Array.of(1), value: { kind: "inline", bytes: Uint8Array.of(7, 8) } },
    { key: Uint8Array.of(1, 2), value: { kind: "indirect", fileId: 3, offset: 2n ** 62n, length: 0n } },
    { key: Uint8Array.of(2), value: { kind: "inline", bytes: Uint8Array.of(9) } },
  ];
  const kept = LeafEntries.of(entries);
  expect(kept.length).toBe(3);
  expect([...kept]).toEqual(entries);
  expect([...kept.keys]).toEqual(entries.map(({ key }) => key));
  expect([...kept.values]).toEqual(entries.map(({ value }) => value));
});
