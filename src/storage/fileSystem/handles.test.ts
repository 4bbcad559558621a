import { expect, test, vi } from "vitest";
import { FakeFileSystem, refusal } from "./fakeFileSystem.testing.js";
import { Handles, unlessAbsent } from "./handles.js";

const system = () => new FakeFileSystem([["a/b/file", Uint8Array.of(1)]]);

test("looks once for what is there, also when asked in one go", async () => {
  const files = system();
  const openRoot = vi.fn(async () => files.directory());
  const handles = new Handles(openRoot);
  const found = await Promise.all([handles.file("a/b/file"), handles.file("a/b/file"), handles.folder("a/b"), handles.folder("")]);
  expect(found.map((handle) => handle?.name)).toEqual(["file", "file", "b", ""]);
  await handles.file("a/b/file");
  expect(files.calls).toEqual(["getDirectoryHandle a", "getDirectoryHandle a/b", "getFileHandle a/b/file"]);
  expect(openRoot).toHaveBeenCalledTimes(1);
});

test("looks again for what was not there", async () => {
  const files = system();
  const handles = new Handles(async () => files.directory());
  for (const path of ["c/file", "a/file", "a/b", "a/b/file/below"]) expect(await handles.file(path), path).toBeUndefined();
  for (const path of ["c", "a/b/file"]) expect(await handles.folder(path), path).toBeUndefined();
  files.files.set("c/file", { bytes: Uint8Array.of(2), lastModified: 0 });
  expect((await handles.file("c/file"))?.name).toBe("file");
});

test("looks again after a failure, and for a root that is not there yet", async () => {
  const files = system();
  const roots = [async () => undefined, () => Promise.reject(new Error("no root")), async () => files.directory()];
  const handles = new Handles(() => roots.shift()?.() ?? Promise.reject(new Error("asked too often")));
  expect(await handles.file("a/b/file")).toBeUndefined();
  await expect(handles.file("a/b/file")).rejects.toThrow("no root");
  expect((await handles.file("a/b/file"))?.name).toBe("file");
});

test.each(["NotFoundError", "TypeMismatchError"])("%s says that nothing is there", async (name) => {
  expect(await unlessAbsent("a", Promise.reject(refusal(name)))).toBeUndefined();
});

test("any other failure is an error with its cause", async () => {
  for (const cause of [refusal("UnknownError"), refusal("NotReadableError"), "text"]) {
    await expect(unlessAbsent("a/b", Promise.reject(cause))).rejects.toMatchObject({
      name: "StorageError",
      reason: "io",
      path: "a/b",
      cause,
    });
  }
});
