import { expect, test } from "vitest";
import type { LocatedStorage } from "./located.js";
import { memoryStorage } from "./memory.js";
import { unitedStorage } from "./united.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (values: readonly (Uint8Array | undefined)[]) => values.map((value) => value && new TextDecoder().decode(value));

/** A storage that counts what it is asked, and knows where its bytes are. */
function located(files: Record<string, string>) {
  const asked: string[][] = [];
  const storage: LocatedStorage = {
    locateAll: async (paths) => paths.map((path) => (path in files ? { storage: memoryStorage(), path: `at ${path}` } : undefined)),
    async readAll(paths) {
      asked.push([...paths]);
      return paths.map((path) => (path in files ? bytes(files[path] ?? "") : undefined));
    },
  };
  return { storage, asked };
}

test("of a path that several have, the last counts, and below a prefix the one with that prefix", async () => {
  const first = located({ a: "first a", b: "first b", "p/a": "first p/a" });
  const second = located({ b: "second b" });
  const below = located({ a: "below a" });
  const union = unitedStorage([
    { prefix: "", storage: first.storage },
    { prefix: "p/", storage: below.storage },
    { prefix: "", storage: second.storage },
  ]);
  expect(texts(await union.readAll(["p/a", "a", "b", "none", "p/none", "p"]))).toEqual([
    "below a",
    "first a",
    "second b",
    undefined,
    undefined,
    undefined,
  ]);
  expect(below.asked).toEqual([["a", "none"]]);
  expect(second.asked).toEqual([["a", "b", "none", "p/none", "p"]]);
  expect(first.asked).toEqual([["a", "none", "p/none", "p"]]);
  expect((await union.locateAll(["p/a", "b", "none"])).map((location) => location?.path)).toEqual(["at a", "at b", undefined]);
});

test("a storage is asked nothing where no path begins with its prefix", async () => {
  const below = located({});
  const union = unitedStorage([
    { prefix: "", storage: located({ a: "a" }).storage },
    { prefix: "p/", storage: below.storage },
  ]);
  expect(texts(await union.readAll(["a", "q/a"]))).toEqual(["a", undefined]);
  expect(below.asked).toEqual([]);
});

test("paths of a storage without an index are files that may be there", async () => {
  const folder = memoryStorage({ a: bytes("a") });
  const union = unitedStorage([
    { prefix: "", storage: folder },
    { prefix: "p/", storage: located({ x: "x" }).storage },
  ]);
  expect(texts(await union.readAll(["a", "p/x", "b"]))).toEqual(["a", "x", undefined]);
  expect(await union.locateAll(["a", "p/x", "p/y"])).toMatchObject([
    { storage: folder, path: "a" },
    { path: "at x" },
    { storage: folder, path: "p/y" }, // which may be there
  ]);
  await expect(union.readAll(["a"], { longest: 1, signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
});

test("a single storage is the union", () => {
  const { storage } = located({});
  expect(unitedStorage([{ prefix: "", storage }])).toBe(storage);
});
