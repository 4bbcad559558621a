import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openFileSource } from "./fileSource.js";
import { FakeFileSystem, unreadable } from "./fileSystem/fakeFileSystem.testing.js";

const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);
const version = { byteLength: 5000, lastModified: 1_700_000_000_000 };

let system: FakeFileSystem;
let handle: FileSystemFileHandle;

beforeEach(() => {
  system = new FakeFileSystem([["a/file", bytes]]);
  handle = system.file("a/file");
});
afterEach(() => vi.unstubAllGlobals());

/** What a dedicated worker has; older browsers' handles know no modes. */
const stubSyncHandles = (prototype: object = { mode: "readwrite" }) => vi.stubGlobal("FileSystemSyncAccessHandle", { prototype });

const changed = { name: "StorageError", reason: "changed", path: "file" };

describe.each([
  ["by a synchronous handle", () => stubSyncHandles(), true],
  ["by slices on a page", () => {}, false],
  ["by slices where handles know no modes", () => stubSyncHandles({}), false],
  [
    "by slices while a writer has the file",
    () => {
      stubSyncHandles();
      system.refusals.set("createSyncAccessHandle a/file", "NoModificationAllowedError");
    },
    false,
  ],
])("a file read %s", (_, prepare, isSync) => {
  beforeEach(prepare);

  test("gives ranges in order, and at most those", async () => {
    const source = await openFileSource(handle);
    expect(source.byteLength).toBe(5000);
    expect(system.open).toHaveLength(isSync ? 1 : 0);
    const from = source.at({ offset: 100, length: 300 });
    const other = source.at({ offset: 0, length: 5 });
    const into = new Uint8Array(1000).fill(255);
    const first = from.read(into.subarray(0, 200));
    expect(typeof first).toBe(isSync ? "number" : "object");
    expect(await first).toBe(200);
    expect(await other.read(into.subarray(500))).toBe(5);
    expect(await from.read(into.subarray(200, 500))).toBe(100);
    expect(await from.read(into)).toBe(0);
    expect(await other.read(into)).toBe(0);
    expect(into.subarray(0, 300)).toEqual(bytes.subarray(100, 400));
    expect(into.subarray(300, 500).every((byte) => byte === 255)).toBe(true);
    expect(into.subarray(500, 505)).toEqual(bytes.subarray(0, 5));
    source.close();
    source.close();
    expect(system.open).toEqual([]);
  });

  test("refuses ranges past its end, and what is none", async () => {
    const source = await openFileSource(handle, { path: "1/model/d/file" });
    expect(await source.at({ offset: 5000, length: 0 }).read(new Uint8Array(1))).toBe(0);
    const at = (offset: number, length: number) => () => source.at({ offset, length });
    expect(at(4999, 2)).toThrow(expect.objectContaining({ name: "StorageError", reason: "length", path: "1/model/d/file" }));
    expect(at(-1, 2)).toThrow(expect.objectContaining({ name: "CheckpointValueError" }));
  });

  test("takes only the version it is told, and lets go of another one", async () => {
    await expect(openFileSource(handle, { version: { ...version, lastModified: 5 } })).rejects.toMatchObject(changed);
    await expect(openFileSource(handle, { version: { ...version, byteLength: 4999 } })).rejects.toMatchObject(changed);
    expect(system.open).toEqual([]);
    const source = await openFileSource(handle, { version });
    expect(source.byteLength).toBe(5000);
    source.close();
  });

  test("a file that shrinks is an error, never fewer bytes", async () => {
    const source = await openFileSource(handle);
    Object.assign(system.files.get("a/file") ?? {}, { bytes: bytes.subarray(0, 110) });
    const from = source.at({ offset: 100, length: 300 });
    const read = async () => {
      while ((await from.read(new Uint8Array(200))) > 0);
    };
    // Node keeps a File's bytes.
    if (isSync) await expect(read()).rejects.toMatchObject(changed);
    else await read();
    source.close();
  });

  test("a file that is gone when it is opened is an error", async () => {
    system.files.delete("a/file");
    await expect(openFileSource(handle)).rejects.toMatchObject({ ...changed, message: expect.stringMatching(/gone/) });
    expect(system.open).toEqual([]);
  });
});

test("what a synchronous handle refuses is an error with its cause", async () => {
  stubSyncHandles();
  const source = await openFileSource(handle);
  const from = source.at({ offset: 0, length: 5 });
  source.close();
  expect(() => from.read(new Uint8Array(5))).toThrow(
    expect.objectContaining({ name: "StorageError", reason: "io", cause: expect.objectContaining({ name: "InvalidStateError" }) }),
  );
});

test("slices that cannot be read any more are an error that says why", async () => {
  const { fileOf } = system;
  const cause = new TypeError("network error");
  system.fileOf = (stored, name) => unreadable(fileOf(stored, name), () => cause);
  const source = await openFileSource(handle);
  const read = async () => source.at({ offset: 0, length: 5 }).read(new Uint8Array(5));
  await expect(read()).rejects.toMatchObject({ name: "StorageError", reason: "io", cause });
  Object.assign(system.files.get("a/file") ?? {}, { lastModified: 5 });
  await expect(read()).rejects.toMatchObject({ ...changed, cause });
});

test("a slice is no longer than 4 MiB", async () => {
  const large = new FakeFileSystem([["large", new Uint8Array(5 * 1024 * 1024)]]);
  const source = await openFileSource(large.file("large"));
  const from = source.at({ offset: 0, length: source.byteLength });
  const into = new Uint8Array(source.byteLength);
  expect([await from.read(into), await from.read(into), await from.read(into)]).toEqual([4 * 1024 * 1024, 1024 * 1024, 0]);
});
