import { expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { expectCorrupt, listed, opened } from "./databases.testing.js";
import { child, indirect, inline, interiorOf, leafOf, manifestOf, ownFiles, storageOf } from "./handmade.testing.js";

const utf8 = (text: string) => new TextEncoder().encode(text);

const reading = async (storage: ReadableStorage, key = "key") => (await opened(storage)).read(key);

test("a node that is missing, too short, or another one", async () => {
  const leaf = leafOf({ key: inline("x") });
  await expectCorrupt(reading(memoryStorage({ "manifest.ocdbt": manifestOf(leaf) })), "root", "no such file");
  await expectCorrupt(reading(storageOf(leaf.subarray(0, -1), {}, { length: BigInt(leaf.length) })), "root", "expected bytes 0 to");
  await expectCorrupt(reading(storageOf(leaf, {}, { height: 1 })), "root", "expected a B+tree node of height 1, received height 0");
});

test("a child of another height, or one that begins before its place", async () => {
  const leaf = leafOf({ key: inline("x") });
  const twice = interiorOf([child("a", leaf)], ownFiles("leaf"), 2);
  await expectCorrupt(reading(storageOf(twice, { leaf }, { height: 2 })), "leaf", "expected a B+tree node of height 1, received height 0");
  const late = interiorOf([child("kez", leaf)], ownFiles("leaf"));
  await expectCorrupt(
    reading(storageOf(late, { leaf }, { height: 1 }), "kez"),
    "leaf",
    "a first key at or above the one in the parent node",
  );
});

test("a tree that names one node again and again", async () => {
  const leaf = leafOf({ a: inline("x"), z: inline("y") });
  const loop = interiorOf([child("a", leaf), child("b", leaf)], ownFiles("leaf"));
  const found = await opened(storageOf(loop, { leaf }, { height: 1 }));
  await expectCorrupt(listed(found.keys("")), "leaf", "a first key at or above the one in the parent node");
});

test("a node with keys that belong to the next one", async () => {
  const [first, second] = [leafOf({ a: inline("x"), z: inline("y") }), leafOf({ b: inline("z") })];
  const root = interiorOf([child("a", first), child("b", second, 1)], ownFiles("first", "second"));
  const found = await opened(storageOf(root, { first, second }, { height: 1 }));
  await expectCorrupt(listed(found.keys("")), "second", "keys above those of the node before");
});

test("a small tree of more keys than any checkpoint has", async () => {
  const wide = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0"));
  let below = leafOf(Object.fromEntries(wide.map((key) => [`x${key}`, inline("")])));
  const files: Record<string, Uint8Array> = { level0: below };
  for (let height = 1; height <= 3; height++) {
    const children = wide.map((key) => child(`x${key}`, below, 0, 4));
    below = interiorOf(children, ownFiles(`level${height - 1}`), height);
    files[`level${height}`] = below;
  }
  const found = await opened(storageOf(below, files, { height: 3 }));
  await expectCorrupt(listed(found.keys("")), "level0", "expected at most 1048576 keys");
});

test("an interior node leaves out what all keys below it share", async () => {
  const leaf = leafOf({ "": inline("self"), "/0": inline("zero") });
  const root = interiorOf([child("a", leafOf({ a: inline("1") }), 0), child("m.x", leaf, 1, 3)], ownFiles("first", "leaf"));
  const found = await opened(storageOf(root, { first: leafOf({ a: inline("1") }), leaf }, { height: 1 }));
  expect(await listed(found.keys(""))).toEqual(["a", "m.x", "m.x/0"]);
  expect(await listed(found.keys("m"))).toEqual(["m.x", "m.x/0"]);
  expect(await listed(found.keys("m.x/"))).toEqual(["m.x/0"]);
  expect(await found.read("m.x")).toEqual(utf8("self"));
  for (const key of ["m", "m.y", "m.w", "A"]) expect(await found.read(key)).toBeUndefined();
});

test("base paths add up on the way down", async () => {
  const leaf = leafOf({ key: indirect(1n, 2n) }, [{ basePath: "inner/", relativePath: "d/1" }]);
  const root = interiorOf([child("key", leaf)], [{ basePath: "middle/", relativePath: "d/leaf" }]);
  const files = { "outer/d/root": root, "outer/middle/d/leaf": leaf, "outer/middle/inner/d/1": Uint8Array.of(1, 2, 3) };
  const file = { basePath: "outer/", relativePath: "d/root" };
  const found = await opened(memoryStorage({ ...files, "manifest.ocdbt": manifestOf(root, { height: 1, file }) }));
  expect(await found.read("key")).toEqual(Uint8Array.of(2, 3));
  expect(await found.locate("key")).toMatchObject({ path: "outer/middle/inner/d/1", range: { offset: 1, length: 2 } });
});
