import { mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { nodeStorage } from "./node.js";

const folders: string[] = [];

async function folderOf(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "node-storage-"));
  folders.push(folder);
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
  return folder;
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

testStorage("nodeStorage", async (files) => {
  const storage = nodeStorage(await folderOf(files));
  return { storage, writable: storage };
});

test("constructing it touches nothing, and the folder comes with the first write", async () => {
  const parent = await folderOf(new Map());
  const storage = nodeStorage(join(parent, "later"));
  expect(await storage.list("")).toEqual({ files: [], directories: [] });
  expect(await readdir(parent)).toEqual([]);
  await storage.write("a/b", Uint8Array.of(1));
  expect(await readdir(join(parent, "later", "a"))).toEqual(["b"]);
  expect(() => nodeStorage(" ")).toThrow(/needs a folder/);
  for (const wrong of [new URL("file:///tmp"), undefined, null])
    expect(() => nodeStorage(wrong as never)).toThrow(/as text.*fileURLToPath/);
});

test("a file that is written in place has what was written, whatever becomes of its writer", async () => {
  const storage = nodeStorage(await folderOf(new Map([["a", Uint8Array.of(9, 9, 9)]])));
  const writer = await storage.create("a", { inPlace: true });
  await writer.write(Uint8Array.of(1, 2));
  expect(await storage.read("a")).toEqual(Uint8Array.of(1, 2));
  await writer.abort();
  expect(await storage.list("")).toEqual({ files: ["a"], directories: [] });
});

test("follows links in reads and lists, and leaves out those that lead nowhere", async () => {
  const folder = await folderOf(new Map([["real/file", Uint8Array.of(5)]]));
  await symlink("real", join(folder, "folder"));
  await symlink("real/file", join(folder, "file"));
  await symlink("nowhere", join(folder, "lost"));
  const storage = nodeStorage(folder);
  expect(await storage.list("")).toEqual({ files: ["file"], directories: ["folder", "real"] });
  expect(await storage.read("folder/file")).toEqual(Uint8Array.of(5));
  expect(await storage.read("lost")).toBeUndefined();
});

test("streams in pieces of 1 MiB and notices a file that shrinks meanwhile", async () => {
  const folder = await folderOf(new Map([["big", new Uint8Array(3 * 1024 * 1024)]]));
  const pieces = nodeStorage(folder).stream?.("big", { offset: 0, length: 3 * 1024 * 1024 });
  const read = async () => {
    for await (const piece of pieces ?? []) {
      expect(piece.byteLength).toBe(1024 * 1024);
      await truncate(join(folder, "big"), 10);
    }
  };
  await expect(read()).rejects.toMatchObject({ name: "StorageError", reason: "length" });
});

test("a write that fails leaves the old bytes and nothing beside them", async () => {
  const folder = await folderOf(new Map([["kept/file", Uint8Array.of(1)]]));
  const storage = nodeStorage(folder);
  await expect(storage.write("kept", Uint8Array.of(2))).rejects.toMatchObject({ name: "StorageError", reason: "io", path: "kept" });
  await expect(storage.write("kept/file/below", Uint8Array.of(2))).rejects.toMatchObject({ reason: "io" });
  const controller = new AbortController();
  const write = storage.write("kept/file", new Uint8Array(8 * 1024 * 1024), { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(write).rejects.toThrow("enough");
  expect(await storage.read("kept/file")).toEqual(Uint8Array.of(1));
  expect(await readdir(folder)).toEqual(["kept"]);
  expect(await readdir(join(folder, "kept"))).toEqual(["file"]);
});

test("a failure of the file system keeps its cause", async () => {
  const folder = await folderOf(new Map());
  await symlink("loop", join(folder, "loop"));
  const error = await nodeStorage(folder)
    .read("loop")
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: "StorageError", reason: "io", path: "loop", cause: { code: "ELOOP" } });
});

test("does not read a file that is longer than allowed", async () => {
  const folder = await folderOf(new Map([["file", Uint8Array.of(1, 2, 3)]]));
  await truncate(join(folder, "file"), 1e12);
  await expect(nodeStorage(folder).read("file", { longest: 1e6 })).rejects.toMatchObject({ reason: "length" });
  expect(await nodeStorage(folder).read("file", { longest: 1e6, range: { offset: 0, length: 3 } })).toEqual(Uint8Array.of(1, 2, 3));
});
