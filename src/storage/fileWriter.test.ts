import { expect, test } from "vitest";
import { createFile } from "./fileWriter.js";
import { testFileWriters } from "./fileWriter.testing.js";
import { memoryStorage } from "./memory.js";
import type { WritableStorage } from "./storage.js";

/** A storage that takes whole files only, as a caller's own may. */
function wholeFiles(): WritableStorage {
  const { read, list, write, remove } = memoryStorage();
  return { read, list, write, remove };
}

testFileWriters("a storage that takes whole files", async () => wholeFiles());

test("a storage that takes whole files gets one, once", async () => {
  const storage = wholeFiles();
  const written: string[] = [];
  const counting: WritableStorage = { ...storage, write: async (path, bytes) => void written.push(`${path} ${bytes.length}`) };
  const writer = await createFile(counting, "file");
  await writer.write(new Uint8Array(3));
  await writer.write(new Uint8Array(4));
  expect(written).toEqual([]);
  await writer.close();
  expect(written).toEqual(["file 7"]);
});

test("a write that fails at the end can be given up", async () => {
  const failing: WritableStorage = { ...wholeFiles(), write: () => Promise.reject(new Error("full")) };
  const writer = await createFile(failing, "file");
  await writer.write(new Uint8Array(3));
  await expect(writer.close()).rejects.toThrow("full");
  await writer.abort();
});
