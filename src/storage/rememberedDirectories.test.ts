import { afterEach, expect, test, vi } from "vitest";
import { recallDirectory, rememberDirectory } from "./rememberedDirectories.js";

// That handles come back, a real browser shows: e2e/opfs.spec.ts.

afterEach(() => vi.unstubAllGlobals());

const handle = { kind: "directory" } as FileSystemDirectoryHandle;

test.each([
  ["without databases", undefined],
  [
    "that refuses databases",
    {
      open() {
        throw new DOMException("refused", "SecurityError");
      },
    },
  ],
])("a browser %s remembers nothing, and says so", async (_, indexedDB) => {
  vi.stubGlobal("indexedDB", indexedDB);
  await expect(rememberDirectory("runs", handle)).rejects.toMatchObject({ name: "StorageError", reason: "unavailable" });
  expect(await recallDirectory("runs")).toBeUndefined();
});
