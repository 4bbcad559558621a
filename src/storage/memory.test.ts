import { expect, test } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { memoryStorage } from "./memory.js";

testStorage("memoryStorage", (files) => {
  const storage = memoryStorage(files);
  return { storage, writable: storage };
});

test("takes a plain object, members named like prototypes' too", async () => {
  const storage = memoryStorage(Object.fromEntries([["__proto__", Uint8Array.of(1)]]));
  expect(await storage.read("__proto__")).toEqual(Uint8Array.of(1));
  expect(await storage.read("constructor")).toBeUndefined();
  expect(await memoryStorage().list("")).toEqual({ files: [], directories: [] });
});

test("a file that is written in place has what was written, whatever becomes of its writer", async () => {
  const storage = memoryStorage({ a: Uint8Array.of(9, 9, 9) });
  const writer = await storage.create("a", { inPlace: true });
  expect(await storage.read("a")).toEqual(new Uint8Array());
  await writer.write(Uint8Array.of(1, 2));
  expect(await storage.read("a")).toEqual(Uint8Array.of(1, 2));
});

test("refuses files whose paths no storage takes", () => {
  expect(() => memoryStorage({ "../x": new Uint8Array() })).toThrow(/"\.\.\/x" is not a path inside a storage/);
});
