import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { directoryReading } from "./directoryHandle.js";
import { directoryWriting } from "./directoryWriting.js";
import { type FakeAbilities, FakeFileSystem } from "./fileSystem/fakeFileSystem.testing.js";
import { openSink } from "./fileSystem/openSink.js";
import type { WritableStorage } from "./storage.js";

const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251);

/** A folder that is written to, with a file in it. */
function written(abilities: FakeAbilities = {}, files: Iterable<readonly [string, Uint8Array]> = [["a/file", Uint8Array.of(1)]]) {
  const system = new FakeFileSystem(files, abilities);
  const openRoot = async () => system.directory();
  const storage: WritableStorage = { ...directoryReading("folder", openRoot), ...directoryWriting({ openRoot, openSink }) };
  return { system, storage };
}

const pathsOf = ({ files }: FakeFileSystem) => [...files.keys()].sort();

testStorage(
  "a written directory without moves",
  (files) => {
    const { storage } = written({ moves: false }, files);
    return { storage, writable: storage };
  },
  { beginsEmpty: true },
);

describe.each<[string, FakeAbilities]>([
  ["synchronous handles", {}],
  ["streams", { sync: false }],
  ["streams at their place", { sync: false, moves: false }],
])("with %s", (_, abilities) => {
  test("what there is no room for leaves all as it was", async () => {
    const { system, storage } = written(abilities);
    system.room = 2_500_000;
    for (const path of ["a/file", "a/new"]) {
      const failure = { name: "StorageError", reason: "quota", path, message: expect.stringMatching(/3,000,000 bytes more are needed/) };
      await expect(storage.write(path, bytes)).rejects.toMatchObject(failure);
      system.room = 2_500_000;
    }
    expect(pathsOf(system)).toEqual(["a/file"]);
    expect(await storage.read("a/file")).toEqual(Uint8Array.of(1));
    expect(system.open).toEqual([]);
  });

  test("a file that cannot be begun leaves nothing", async () => {
    const { system, storage } = written(abilities);
    for (const call of ["createSyncAccessHandle", "createWritable"] as const) refuseAll(system, call, "UnknownError");
    await expect(storage.write("a/new", bytes)).rejects.toMatchObject({ reason: "io", path: "a/new", cause: { name: "UnknownError" } });
    expect(pathsOf(system)).toEqual(["a/file"]);
  });
});

test("a file that grows at its place, by a synchronous handle, lacks less than two short pieces when its writer is given up", async () => {
  const { system, storage } = written();
  const writer = await storage.create("a/file", { inPlace: true });
  await writer.write(bytes);
  expect(pathsOf(system)).toEqual(["a/file"]);
  await writer.abort();
  const length = (await storage.read("a/file"))?.length ?? 0;
  expect(length).toBeGreaterThan(bytes.length - 2 * 256 * 1024);
  expect(length % (256 * 1024)).toBe(0);
  expect(system.open).toEqual([]);
});

/** Refuses a method whatever it is called on. */
function refuseAll(system: FakeFileSystem, method: string, name: string): void {
  const get = system.refusals.get.bind(system.refusals);
  system.refusals.get = (call) => (call.startsWith(`${method} `) ? name : get(call));
}

test("a handle that takes fewer bytes than it is given gets the rest again", async () => {
  const { system, storage } = written();
  system.longestWrite = 70_001;
  await storage.write("a/file", bytes);
  expect(Buffer.compare((await storage.read("a/file")) ?? Buffer.of(), bytes)).toBe(0);
});

test("gets few large pieces, by a synchronous handle where there is one, closed before the move", async () => {
  const { system, storage } = written();
  const writer = await storage.create("a/file");
  for (let at = 0; at < bytes.length; at += 1000) await writer.write(bytes.subarray(at, at + 1000));
  await writer.close();
  const names = system.calls
    .map((call) => call.split(" ")[0])
    .filter((name) => !["getDirectoryHandle", "getFileHandle"].includes(name ?? ""));
  expect(names).toEqual(["createSyncAccessHandle", "write", "write", "write", "move"]);
});

test("where synchronous handles are refused, streams do", async () => {
  const { system, storage } = written();
  refuseAll(system, "createSyncAccessHandle", "SecurityError");
  await storage.write("a/file", bytes);
  expect(await storage.read("a/file")).toHaveLength(bytes.length);
});

describe("a file that somebody has open", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  const changes: readonly [string, (storage: WritableStorage) => Promise<void>][] = [
    ["replaced", (storage) => storage.write("a/file", bytes)],
    ["moved", (storage) => storage.move("a/file", "b")],
    ["moved over", (storage) => storage.move("c", "a/file")],
    ["removed", (storage) => storage.remove("a/file")],
    ["removed with its folder", (storage) => storage.remove("a")],
  ];

  test.each(changes)("is %s as soon as it is closed", async (_, change) => {
    const { system, storage } = written({}, [
      ["a/file", Uint8Array.of(1)],
      ["c", Uint8Array.of(2)],
    ]);
    system.open.push("a/file");
    const changing = change(storage);
    await vi.advanceTimersByTimeAsync(1000);
    system.open.splice(0);
    await vi.advanceTimersByTimeAsync(2000);
    await changing;
    expect(await storage.read("a/file")).not.toEqual(Uint8Array.of(1));
    expect(pathsOf(system).filter((path) => path.endsWith(".partial"))).toEqual([]);
  });

  test.each(changes)("is not %s for ever, and left as it was", async (_, change) => {
    const { system, storage } = written({}, [
      ["a/file", Uint8Array.of(1)],
      ["c", Uint8Array.of(2)],
    ]);
    system.open.push("a/file");
    const changing = expect(change(storage)).rejects.toMatchObject({ name: "StorageError", reason: "busy" });
    await vi.advanceTimersByTimeAsync(3000);
    await changing;
    expect(pathsOf(system)).toEqual(["a/file", "c"]);
    expect(await storage.read("a/file")).toEqual(Uint8Array.of(1));
  });
});

describe("where the browser moves no files", () => {
  test("their bytes are copied", async () => {
    const { system, storage } = written({ moves: false });
    await storage.write("a/large", bytes);
    await storage.move("a/large", "b/c");
    expect(pathsOf(system)).toEqual(["a/file", "b/c"]);
    expect(Buffer.compare((await storage.read("b/c")) ?? Buffer.of(), bytes)).toBe(0);
  });

  test("a copy that fails leaves both files as they were", async () => {
    const { system, storage } = written({ moves: false });
    await storage.write("a/large", bytes);
    system.room = 10;
    await expect(storage.move("a/large", "a/file")).rejects.toMatchObject({ reason: "quota", path: "a/file" });
    expect(pathsOf(system)).toEqual(["a/file", "a/large"]);
    expect(await storage.read("a/file")).toEqual(Uint8Array.of(1));
  });
});

test("in a folder of the user's, what the browser does not move is copied, and what is refused is not", async () => {
  const system = new FakeFileSystem([["a/file", Uint8Array.of(1)]]);
  const openRoot = async () => system.directory();
  const storage = { ...directoryReading("picked", openRoot), ...directoryWriting({ openRoot }) };
  system.refusals.set("move b/file", "NotSupportedError");
  await storage.move("a/file", "b/file");
  expect(pathsOf(system)).toEqual(["b/file"]);
  await storage.write("c", bytes);
  system.refusals.set("move c", "QuotaExceededError");
  await expect(storage.move("b/file", "c")).rejects.toMatchObject({ reason: "quota" });
  expect(system.calls.filter((call) => call.startsWith("createSync"))).toEqual([]);
});

test("names that no file can have are refused, and nothing of that name is there to be removed", async () => {
  const { system, storage } = written();
  for (const path of ["a\\b", "\ud800", "\ud800/b", "a\\b/c"]) {
    await expect(storage.write(path, bytes)).rejects.toMatchObject({
      name: "StorageError",
      reason: "io",
      path,
      message: expect.stringMatching(/another one/),
    });
    await expect(storage.move("a/file", path)).rejects.toMatchObject({ name: "StorageError", reason: "io" });
    await storage.remove(path);
  }
  expect(pathsOf(system)).toEqual(["a/file"]);
});
