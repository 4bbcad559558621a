import { afterEach, describe, expect, test, vi } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { type FakeAbilities, FakeFileSystem, refusal } from "./fileSystem/fakeFileSystem.testing.js";
import { opfsStorage } from "./opfs.js";

/** Puts a private file system into this process, which has none. */
function stubOpfs(files: Iterable<readonly [string, Uint8Array]> = [], abilities: FakeAbilities = {}): FakeFileSystem {
  const system = new FakeFileSystem(files, abilities);
  vi.stubGlobal("navigator", { storage: { getDirectory: async () => system.directory() } });
  return system;
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
