import { afterEach, describe, expect, test, vi } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { type FakeAbilities, FakeFileSystem, refusal } from "./fileSystem/fakeFileSystem.testing.js";
import { opfsStorage } from "./opfs.js";

/** Puts a private file system into this process, which has none. */
function stubOpfs(files: Iterable<readonly [string, Uint8Array]> = [], abilities: FakeAbilities = {}) {
  const system = new FakeFileSystem(files, abilities);
  const getDirectory = vi.fn(async () => system.directory());
  vi.stubGlobal("navigator", { storage: { getDirectory } });
  return Object.assign(system, { getDirectory });
}

afterEach(() => vi.unstubAllGlobals());

const below = (folder: string, files: ReadonlyMap<string, Uint8Array>) =>
  [...files].map(([path, bytes]) => [`${folder}/${path}`, bytes] as const);

// On the real one the same cases run in a browser.
testStorage("opfsStorage", (files) => {
  stubOpfs([...below("runs/ü %41", files), ["runs/outside", Uint8Array.of(1)]]);
  const storage = opfsStorage("runs/ü %41");
  return { storage, writable: storage };
});

testStorage("opfsStorage without synchronous handles", (files) => {
  stubOpfs(files, { sync: false });
  const storage = opfsStorage();
  return { storage, writable: storage };
});

testStorage("a snapshot of opfsStorage", (files) => {
  stubOpfs(files);
  return { storage: opfsStorage("/").snapshot?.() ?? opfsStorage() };
});

test.each([
  ["runs/digits", "opfs:/runs/digits"],
  ["/runs/digits/", "opfs:/runs/digits"],
  ["a b/%41/漢", "opfs:/a b/%41/漢"],
  ["", "opfs:"],
  ["/", "opfs:"],
])("is named by its folder: %j", (folder, name) => {
  expect(opfsStorage(folder).name).toBe(name);
  expect(opfsStorage(folder).snapshot?.().name).toBe(name);
});

test.each(["a//b", "../a", "a/../b", "a/.", "//a", "a//", "nul\0"])("refuses the folder %j", (folder) => {
  expect(() => opfsStorage(folder)).toThrow(/not a path inside a storage/);
});

test.each([null, 5, new URL("https://host/run"), {}])("refuses %s", (folder) => {
  expect(() => opfsStorage(folder as string)).toThrow(/path as text/);
});

test("touches nothing before the first call, and a folder that is not there is empty, until it is", async () => {
  const system = stubOpfs();
  const storage = opfsStorage("runs/digits");
  const snapshot = storage.snapshot?.() ?? storage;
  expect(system.calls).toEqual([]);
  for (const place of [storage, snapshot]) {
    expect(await place.list("")).toEqual({ files: [], directories: [] });
    expect(await place.read("a")).toBeUndefined();
    expect(await place.handle?.("a")).toBeUndefined();
  }
  system.files.set("runs/digits/a", { bytes: Uint8Array.of(7), lastModified: 1 });
  for (const place of [storage, snapshot]) expect(await place.read("a")).toEqual(Uint8Array.of(7));
});

test("finds its folder once, and nothing below it is remembered but within a snapshot", async () => {
  const system = stubOpfs([["runs/digits/7/a", Uint8Array.of(7)]]);
  const storage = opfsStorage("runs/digits");
  const snapshot = storage.snapshot?.() ?? storage;
  for (const place of [storage, storage, snapshot, snapshot]) {
    expect(await place.list("")).toEqual({ files: [], directories: ["7"] });
    expect(await place.read("7/a")).toEqual(Uint8Array.of(7));
  }
  expect(system.getDirectory).toHaveBeenCalledTimes(1);
  const handles = system.calls.filter((call) => /^get(File|Directory)Handle/.test(call));
  const below = ["getDirectoryHandle runs/digits/7", "getFileHandle runs/digits/7/a"];
  expect(handles).toEqual(["getDirectoryHandle runs", "getDirectoryHandle runs/digits", ...below, ...below, ...below]);
});

test("sees a folder that was removed and made anew after it was found, by itself or by others", async () => {
  const system = stubOpfs([["runs/digits/a", Uint8Array.of(1)]]);
  const storage = opfsStorage("runs/digits");
  expect(await storage.read("a")).toEqual(Uint8Array.of(1));
  await opfsStorage("runs").remove("digits");
  expect(await storage.list("")).toEqual({ files: [], directories: [] });
  expect(await storage.read("a")).toBeUndefined();
  await storage.write("a", Uint8Array.of(2));
  expect(await storage.read("a")).toEqual(Uint8Array.of(2));
  await opfsStorage().remove("runs");
  expect(await storage.read("a")).toBeUndefined();
  system.files.set("runs/digits/b", { bytes: Uint8Array.of(3), lastModified: 1 });
  expect(await storage.list("")).toEqual({ files: ["b"], directories: [] });
  expect(await storage.read("b")).toEqual(Uint8Array.of(3));
});

test("looks again for a folder that could not be opened", async () => {
  const system = stubOpfs([["runs/digits/a", Uint8Array.of(1)]]);
  const storage = opfsStorage("runs/digits");
  system.refusals.set("getDirectoryHandle runs/digits", "InvalidStateError");
  await expect(storage.read("a")).rejects.toMatchObject({ name: "StorageError", reason: "io" });
  system.refusals.clear();
  expect(await storage.read("a")).toEqual(Uint8Array.of(1));
});

describe("where there is no private file system, says what to use", () => {
  const messageOf = async () => {
    const storage = opfsStorage("runs");
    const errors = await Promise.all(
      [storage.read("a"), storage.list(""), storage.handle?.("a")].map((work) => work?.catch((reason: unknown) => reason)),
    );
    for (const error of errors) expect(error).toMatchObject({ name: "StorageError", reason: "unavailable", path: "opfs:/runs" });
    return String(errors[0]);
  };

  test("in Node", async () => {
    expect(await messageOf()).toMatch(/nodeStorage\(directory\) from "orbax-webgpu\/node"/);
    vi.stubGlobal("navigator", undefined);
    expect(await messageOf()).toMatch(/nodeStorage/);
  });

  test("on a page without https", async () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("navigator", {});
    vi.stubGlobal("isSecureContext", false);
    expect(await messageOf()).toMatch(/https or from localhost/);
  });

  test("in a browser without one", async () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("navigator", { storage: {} });
    vi.stubGlobal("isSecureContext", true);
    expect(await messageOf()).toMatch(/no private file system.*memoryStorage/);
  });

  test("in a private window that refuses it", async () => {
    const cause = refusal("SecurityError");
    vi.stubGlobal("navigator", { storage: { getDirectory: () => Promise.reject(cause) } });
    expect(await messageOf()).toMatch(/private windows.*memoryStorage/);
    await expect(opfsStorage("runs").read("a")).rejects.toMatchObject({ cause });
  });
});
