import { describe, expect, test } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { directoryReading } from "./directoryHandle.js";
import { FakeFileSystem, refusal, unreadable, withoutByteStreams } from "./fileSystem/fakeFileSystem.testing.js";

const readingOf = (system: FakeFileSystem) => directoryReading("picked", async () => system.directory());

const bytes = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);
const range = { offset: 10, length: 20 };

/** A file in a folder, and the storage over it. */
function oneFile() {
  const system = new FakeFileSystem([["a/file", bytes]]);
  return { system, storage: readingOf(system) };
}

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<number[]> {
  const all: number[] = [];
  for await (const piece of pieces) all.push(...piece);
  return all;
}

testStorage("a directory handle", (files) => ({ storage: readingOf(new FakeFileSystem(files)) }));

testStorage("a directory handle of a browser without byte streams", (files) => {
  const system = new FakeFileSystem(files);
  const { fileOf } = system;
  system.fileOf = (stored, name) => withoutByteStreams(fileOf(stored, name));
  return { storage: readingOf(system) };
});

describe("a snapshot", () => {
  test("looks for folders and files once", async () => {
    const { system, storage } = oneFile();
    const snapshot = storage.snapshot();
    await Promise.all([snapshot.read("a/file", { range }), snapshot.handle("a/file"), snapshot.list("a/")]);
    expect(system.calls.splice(0).sort()).toEqual([
      "getDirectoryHandle a",
      "getFile a/file",
      "getFile a/file",
      "getFileHandle a/file",
      "values a",
    ]);
    await snapshot.read("a/file", { range });
    expect(system.calls.splice(0)).toEqual(["getFile a/file"]);
    await storage.read("a/file", { range });
    expect(system.calls).toHaveLength(3);
  });

  test.each<[string, Partial<{ bytes: Uint8Array; lastModified: number }>, RegExp]>([
    ["longer", { bytes: new Uint8Array(5001) }, /5000 bytes, then 5001/],
    ["written again", { lastModified: 1_700_000_000_001 }, /written at .*000Z, then at .*001Z/],
  ])("refuses a file that is %s, everywhere; a later one takes it", async (_, change, message) => {
    const { system, storage } = oneFile();
    const snapshot = storage.snapshot();
    expect(await snapshot.read("a/file", { range })).toEqual(bytes.slice(10, 30));
    Object.assign(system.files.get("a/file") ?? {}, change);
    const changed = { name: "StorageError", reason: "changed", path: "a/file", message: expect.stringMatching(message) };
    await expect(snapshot.read("a/file")).rejects.toMatchObject(changed);
    await expect(snapshot.handle("a/file")).rejects.toMatchObject(changed);
    await expect(collect(snapshot.stream("a/file", range))).rejects.toMatchObject(changed);
    expect(await storage.read("a/file", { range })).toHaveLength(20);
    expect(await snapshot.snapshot().read("a/file", { range })).toHaveLength(20);
  });

  test("refuses a file that is gone, and finds one that has come", async () => {
    const { system, storage } = oneFile();
    const snapshot = storage.snapshot();
    expect(await snapshot.read("a/other")).toBeUndefined();
    await snapshot.read("a/file");
    system.files.delete("a/file");
    system.files.set("a/other", { bytes, lastModified: 1 });
    await expect(snapshot.read("a/file")).rejects.toMatchObject({ reason: "changed", message: expect.stringMatching(/gone/) });
    expect(await storage.read("a/file")).toBeUndefined();
    expect(await snapshot.read("a/other")).toEqual(bytes);
  });
});

describe("what the file system refuses", () => {
  test.each([
    ["getDirectoryHandle a", "NotAllowedError", "permission", /requestPermission/],
    ["getFileHandle a/file", "SecurityError", "io", /ordinary window/],
    ["getFile a/file", "NoModificationAllowedError", "busy", /another page or worker/],
    ["getFile a/file", "InvalidStateError", "io", /InvalidStateError.*try again/],
  ] as const)("%s with %s is an error that says what to do, and keeps its cause", async (call, name, reason, message) => {
    const { system, storage } = oneFile();
    system.refusals.set(call, name);
    const failure = { name: "StorageError", reason, message: expect.stringMatching(message), cause: { name } };
    for (const place of [storage, storage.snapshot()]) {
      await expect(place.read("a/file")).rejects.toMatchObject(failure);
      await expect(place.handle("a/file")).rejects.toMatchObject(failure);
      await expect(collect(place.stream("a/file", range))).rejects.toMatchObject(failure);
    }
    system.refusals.clear();
    expect(await storage.read("a/file")).toEqual(bytes);
  });

  test("a list is no empty list then", async () => {
    const { system, storage } = oneFile();
    system.refusals.set("values a", "NotAllowedError");
    await expect(storage.list("a/")).rejects.toMatchObject({ reason: "permission", path: "a/" });
    system.refusals.set("values a", "NotFoundError");
    expect(await storage.list("a/")).toEqual({ files: [], directories: [] });
  });

  test("a file that is removed as it is opened is absent", async () => {
    const { system, storage } = oneFile();
    system.refusals.set("getFile a/file", "NotFoundError");
    expect(await storage.read("a/file")).toBeUndefined();
    expect(await storage.handle("a/file")).toBeUndefined();
  });
});

describe("bytes that cannot be read", () => {
  /** The file's bytes are refused with an error; meanwhile `change` is done. */
  function failing(cause: Error, change: (system: FakeFileSystem) => void) {
    const { system, storage } = oneFile();
    const { fileOf } = system;
    system.fileOf = (stored, name) =>
      unreadable(fileOf(stored, name), () => {
        change(system);
        return cause;
      });
    return storage;
  }

  test.each<[string, (system: FakeFileSystem) => void, RegExp]>([
    ["changed", (system) => Object.assign(system.files.get("a/file") ?? {}, { lastModified: 5 }), /written at/],
    ["is gone", (system) => void system.files.delete("a/file"), /gone/],
  ])("since the file %s", async (_, change, message) => {
    for (const cause of [refusal("NotReadableError"), new TypeError("network error")]) {
      const changed = { name: "StorageError", reason: "changed", path: "a/file", message: expect.stringMatching(message), cause };
      await expect(failing(cause, change).read("a/file")).rejects.toMatchObject(changed);
      await expect(failing(cause, change).read("a/file", { range })).rejects.toMatchObject(changed);
      await expect(collect(failing(cause, change).stream("a/file", range))).rejects.toMatchObject(changed);
    }
  });

  test("for another reason", async () => {
    const cause = refusal("NotReadableError");
    const failure = { name: "StorageError", reason: "io", cause };
    await expect(failing(cause, () => {}).read("a/file")).rejects.toMatchObject(failure);
    await expect(collect(failing(cause, () => {}).stream("a/file", range))).rejects.toMatchObject(failure);
    const closed = failing(cause, (system) => system.refusals.set("getFile a/file", "NotAllowedError"));
    await expect(closed.read("a/file")).rejects.toMatchObject({ reason: "permission", cause: { name: "NotAllowedError" } });
  });
});

test("does not read a file that is longer than allowed", async () => {
  const { storage } = oneFile();
  await expect(storage.read("a/file", { longest: 4999 })).rejects.toMatchObject({ name: "StorageError", reason: "length" });
  expect(await storage.read("a/file", { longest: 5000 })).toEqual(bytes);
  expect(await storage.read("a/file", { longest: 30, range })).toEqual(bytes.slice(10, 30));
});

test("a name that would become another one is absent", async () => {
  const storage = readingOf(new FakeFileSystem([["\ufffd", bytes]]));
  expect(await storage.read("\ud800")).toBeUndefined();
  expect(await storage.read("a\\b")).toBeUndefined();
});
