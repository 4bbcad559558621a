import { expect, test } from "vitest";
import { memoryStorage } from "./memory.js";
import { isWritable } from "./writable.js";

test("a storage is writable with all the methods, not with some", () => {
  expect(isWritable(memoryStorage())).toBe(true);
  const { read, list, write, remove } = memoryStorage();
  for (const storage of [
    { read, list },
    { read, list, write, remove },
  ])
    expect(isWritable(storage)).toBe(false);
});
