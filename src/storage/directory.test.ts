import { afterEach, describe, expect, test, vi } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { directoryStorage } from "./directory.js";
import { FakeFileSystem } from "./fileSystem/fakeFileSystem.testing.js";

afterEach(() => vi.unstubAllGlobals());

testStorage(
  "directoryStorage",
  (files) => {
    const storage = directoryStorage(new FakeFileSystem(files).directory());
    return { storage, writable: storage };
  },
  { beginsEmpty: true },
);

/** A folder of the user's, with what the browser says of it. */
function picked(query: PermissionState | Error, request: PermissionState = "denied") {
  const system = new FakeFileSystem([["a", Uint8Array.of(1)]]);
  const asked: string[] = [];
  const handle = Object.assign(system.directory(), {
    name: "runs",
    queryPermission: async ({ mode }: { mode: string }) => {
      asked.push(`query ${mode}`);
      if (query instanceof Error) throw query;
      return query;
    },
    requestPermission: async ({ mode }: { mode: string }) => {
      asked.push(`request ${mode}`);
      return request;
    },
  });
  return { asked, system, storage: directoryStorage(handle) };
}

const click = () => vi.stubGlobal("navigator", { userActivation: { isActive: true } });

describe("permission", () => {
  test("is looked up once for reads and once for writes, at the first call", async () => {
    const { asked, storage } = picked("granted");
    expect(storage.name).toBe("runs");
    expect(asked).toEqual([]);
    await Promise.all([storage.read("a"), storage.list("")]);
    expect(asked).toEqual(["query read"]);
    await storage.write("b", Uint8Array.of(2));
    await storage.remove("a");
    expect(await storage.list("")).toEqual({ files: ["b"], directories: [] });
    expect(asked).toEqual(["query read", "query readwrite"]);
  });

  test("is asked for on a click", async () => {
    click();
    const { asked, storage } = picked("prompt", "granted");
    await Promise.all([storage.write("b", Uint8Array.of(2)), storage.write("c", Uint8Array.of(2))]);
    expect(asked).toEqual(["query readwrite", "request readwrite"]);
  });

  test("without a click the error says how, and a later call tries again", async () => {
    const { asked, storage } = picked("prompt", "granted");
    const failure = { name: "StorageError", reason: "permission", path: "runs" };
    await expect(storage.write("b", Uint8Array.of(2))).rejects.toMatchObject({
      ...failure,
      message: expect.stringMatching(/write to.*on a click.*requestPermission\(\{ mode: "readwrite" \}\)/),
    });
    await expect(storage.read("a")).rejects.toMatchObject({ ...failure, message: expect.stringMatching(/mode: "read" /) });
    expect(asked).toEqual(["query readwrite", "query read"]);
    click();
    expect(await storage.read("a")).toEqual(Uint8Array.of(1));
  });

  test("that is denied is not asked for", async () => {
    click();
    const { asked, system, storage } = picked("denied");
    await expect(storage.remove("a")).rejects.toMatchObject({ reason: "permission", message: expect.stringMatching(/pick it again/) });
    expect(asked).toEqual(["query readwrite"]);
    expect([...system.files.keys()]).toEqual(["a"]);
  });

  test("that cannot be looked up is the browser's failure", async () => {
    const cause = new TypeError("broken");
    await expect(picked(cause).storage.read("a")).rejects.toMatchObject({ name: "StorageError", reason: "io", cause });
  });

  test("taken away later stops the next call", async () => {
    const { system, storage } = picked("granted");
    await storage.read("a");
    system.refusals.set("getFileHandle a", "NotAllowedError");
    await expect(storage.read("a")).rejects.toMatchObject({ reason: "permission" });
  });
});

test("needs a directory's handle", () => {
  for (const wrong of [undefined, null, "runs", {}, new FakeFileSystem([["a", Uint8Array.of(1)]]).file("a")])
    expect(() => directoryStorage(wrong as never)).toThrow(/showDirectoryPicker/);
});
