import { describe, expect, it } from "vitest";
import type { ByteRange } from "../bytes/ranges.js";
import { checkedStorage } from "./checked.js";
import { withCoalescing } from "./coalesce.js";
import { httpStorage } from "./http.js";
import { type BodyKeeper, keepsStreams, keptStreamOf } from "./keptStream.js";
import { memoryStorage } from "./memory.js";
import { mirrored } from "./mirror/mirrored.js";
import type { ReadableStorage } from "./storage.js";
import { subfolder } from "./subfolder.js";

const keeper: BodyKeeper = { fetch: () => Promise.reject(new Error("nobody asks")), keepsBodyOf: () => false };
const range = { offset: 2, length: 3 };

/** A storage whose bytes a keeper can have; what it was asked for, and the pieces that it gives. */
function keepingStorage(...lengths: readonly number[]) {
  const asked: { path: string; range: ByteRange; keeper: BodyKeeper }[] = [];
  const pieces = lengths.map((length) => new Uint8Array(length));
  const make = (): ReadableStorage => {
    const storage: ReadableStorage = { ...memoryStorage(), stream: () => stream(), snapshot: make };
    return keepsStreams(storage, (path, of, options) => {
      asked.push({ path, range: of, keeper: options.keeper });
      return stream();
    });
  };
  async function* stream() {
    yield* pieces;
  }
  return { storage: make(), asked, pieces };
}

const wrappers: readonly (readonly [string, (storage: ReadableStorage) => ReadableStorage, string])[] = [
  ["checked", checkedStorage, "d/a"],
  ["coalescing", withCoalescing, "d/a"],
  ["a folder of it", (storage) => subfolder(storage, "run"), "run/d/a"],
  ["all three", (storage) => subfolder(checkedStorage(withCoalescing(storage)), "run"), "run/d/a"],
];

describe.each(wrappers)("a storage whose bytes a keeper can have, %s", (_, wrap, path) => {
  it.each([
    ["itself", (storage: ReadableStorage) => storage],
    ["its snapshot", (storage: ReadableStorage) => storage.snapshot?.() as ReadableStorage],
  ])("streams so %s, with the very pieces", async (_name, choose) => {
    const { storage, asked, pieces } = keepingStorage(2, 1);
    const given: Uint8Array[] = [];
    for await (const piece of keptStreamOf(choose(wrap(storage)))?.("d/a", range, { keeper }) ?? []) given.push(piece);
    expect(given).toEqual(pieces);
    expect(given.every((piece, at) => piece === pieces[at])).toBe(true);
    expect(asked).toEqual([{ path, range, keeper }]);
  });
});

it("is checked for how many bytes come", async () => {
  for (const [lengths, message] of [
    [[1, 1], /length|bytes/],
    [[2, 2], /more than/],
  ] as const) {
    const pieces = keptStreamOf(checkedStorage(keepingStorage(...lengths).storage))?.("d/a", range, { keeper });
    const all = async () => {
      for await (const piece of pieces ?? []) expect(piece.length).toBeGreaterThan(0);
    };
    await expect(all()).rejects.toThrow(message);
  }
});

it("is not what a caller makes of it: a copy, one that inherits, one whose stream is his own, a mirror", () => {
  const { storage } = keepingStorage();
  const changed = keepingStorage().storage;
  changed.stream = async function* () {};
  for (const own of [
    { ...storage },
    Object.create(storage) as ReadableStorage,
    new Proxy(storage, {}),
    changed,
    mirrored(storage, memoryStorage()),
  ]) {
    expect(keptStreamOf(own)).toBeUndefined();
    expect(keptStreamOf(checkedStorage(own))).toBeUndefined();
  }
  expect(keptStreamOf(storage)).toBeDefined();
});

it("is HTTP without a fetch of the caller's own", () => {
  const url = "https://example.com/run";
  expect(keptStreamOf(httpStorage(url))).toBeDefined();
  expect(keptStreamOf(httpStorage(url, { fetch: (input, init) => fetch(input, init) }))).toBeUndefined();
});
