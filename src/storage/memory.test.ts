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

test("refuses files whose paths no storage takes", () => {
  expect(() => memoryStorage({ "../x": new Uint8Array() })).toThrow(/"\.\.\/x" is not a path inside a storage/);
});
