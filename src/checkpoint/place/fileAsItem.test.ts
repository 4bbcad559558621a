import { expect, it } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { fileAsItem } from "./fileAsItem.js";

const bytes = new Uint8Array([1, 2, 3]);

async function* piecesOf(path: string) {
  yield new TextEncoder().encode(path);
}

it("shows a file as the folder of an item", async () => {
  const handle = {} as FileSystemFileHandle;
  const place: ReadableStorage = {
    ...memoryStorage({ checkpoint_5: bytes, other: bytes }),
    name: "runs",
    stream: piecesOf,
    handle: async (path) => (path === "checkpoint_5" ? handle : undefined),
  };
  const storage = fileAsItem(place, "checkpoint_5");
  expect(storage.name).toBe("runs");
  expect(await storage.read("checkpoint_5/checkpoint")).toEqual(bytes);
  expect(await storage.read("checkpoint_5/checkpoint", { range: { offset: 1, length: 1 } })).toEqual(bytes.subarray(1, 2));
  expect(await storage.read("checkpoint_5/_METADATA")).toBeUndefined();
  expect(await storage.read("other")).toBeUndefined();
  expect(await storage.list("checkpoint_5/")).toEqual({ files: ["checkpoint"], directories: [] });
  expect(await storage.list("")).toEqual({ files: [], directories: ["checkpoint_5"] });
  const range = { offset: 0, length: 12 };
  const pieces = [];
  for await (const piece of storage.stream?.("checkpoint_5/checkpoint", range) ?? []) pieces.push(new TextDecoder().decode(piece));
  expect(pieces).toEqual(["checkpoint_5"]);
  expect(() => storage.stream?.("other", range)).toThrow(/other/);
  expect([await storage.handle?.("checkpoint_5/checkpoint"), await storage.handle?.("other")]).toEqual([handle, undefined]);
});
