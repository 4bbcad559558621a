import { expect, test } from "vitest";
import { StorageError } from "../errors.js";
import { hasFile } from "./hasFile.js";
import { fileTooLong } from "./lengthError.js";
import { memoryStorage } from "./memory.js";

test("a file is there, however long, and what is not is not", async () => {
  const asked: (number | undefined)[] = [];
  const storage = {
    ...memoryStorage(new Map([["empty", new Uint8Array()]])),
    read: async (path: string, { longest }: { longest?: number | undefined } = {}) => {
      asked.push(longest);
      if (path === "long") throw fileTooLong(path, longest ?? 0);
      if (path === "away") throw new StorageError({ path, reason: "network", message: "no answer" });
      return path === "empty" ? new Uint8Array() : undefined;
    },
  };
  expect(await hasFile(storage, "long", {})).toBe(true);
  expect(await hasFile(storage, "empty", {})).toBe(true);
  expect(await hasFile(storage, "absent", {})).toBe(false);
  await expect(hasFile(storage, "away", {})).rejects.toMatchObject({ reason: "network" });
  expect(new Set(asked)).toEqual(new Set([65_536]));
});
