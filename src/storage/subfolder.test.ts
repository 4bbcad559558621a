import { expect, test } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { memoryStorage } from "./memory.js";
import type { ReadableStorage } from "./storage.js";
import { subfolder } from "./subfolder.js";

testStorage("subfolder", (files) => {
  const moved = new Map([...files].map(([path, bytes]) => [`deep/er/${path}`, bytes]));
  moved.set("deep/outside", Uint8Array.of(1));
  const storage = subfolder(memoryStorage(moved), "deep/er");
  return { storage, writable: storage };
});

test("is named below its parent, and is the parent where the path is empty", () => {
  const parent = memoryStorage();
  expect(subfolder(parent, "run/10").name).toBe("memory/run/10");
  expect(subfolder(parent, "")).toBe(parent);
  expect(() => subfolder(parent, "../run")).toThrow(/not a path inside a storage/);
});

test("streams, snapshots and has handles where its parent does, and only there", async () => {
  async function* stream() {
    yield Uint8Array.of(1, 2);
  }
  const asked: string[] = [];
  const parent: ReadableStorage = {
    ...memoryStorage(),
    stream: (path) => {
      asked.push(path);
      return stream();
    },
    handle: async (path) => ({ name: path }) as FileSystemFileHandle,
    snapshot: () => memoryStorage({ "run/x": Uint8Array.of(7) }),
  };
  const folder = subfolder(parent, "run");
  for await (const piece of folder.stream?.("x", { offset: 0, length: 2 }) ?? []) expect(piece).toHaveLength(2);
  expect(asked).toEqual(["run/x"]);
  expect(await folder.snapshot?.().read("x")).toEqual(Uint8Array.of(7));
  expect(await folder.handle?.("x")).toEqual({ name: "run/x" });
  await expect(folder.handle?.("../x")).rejects.toThrow(/not a path inside a storage/);
  const { read, list } = memoryStorage();
  expect(Object.keys(subfolder({ read, list }, "run"))).toEqual(["name", "read", "list"]);
});

test("asks its parent for room, where that can tell", async () => {
  const asked: unknown[] = [];
  const parent = { ...memoryStorage(), requireRoom: async (...given: unknown[]) => void asked.push(given) };
  await subfolder(parent, "run").requireRoom?.(5, {});
  expect(asked).toEqual([[5, {}]]);
  expect(subfolder(memoryStorage(), "run").requireRoom).toBeUndefined();
});

test("has its parent remove what was abandoned in it, where that can", async () => {
  const asked: unknown[] = [];
  const parent = { ...memoryStorage(), removeAbandoned: async (...given: unknown[]) => void asked.push(given) };
  await subfolder(parent, "run").removeAbandoned?.("", {});
  await subfolder(parent, "run").removeAbandoned?.("a/", {});
  expect(asked).toEqual([
    ["run/", {}],
    ["run/a/", {}],
  ]);
  await expect(subfolder(parent, "run").removeAbandoned?.("../")).rejects.toThrow();
  expect(subfolder(memoryStorage(), "run").removeAbandoned).toBeUndefined();
});
