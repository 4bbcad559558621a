import { describe, expect, test } from "vitest";
import { testStorage } from "./conformance.testing.js";
import { streamRange } from "./streamRange.js";
import { type HandmadeEntry, handmadeZip } from "./zip/handmade.testing.js";
import { zipStorage } from "./zip.js";

const entriesOf = (files: ReadonlyMap<string, Uint8Array>, deflated: boolean): HandmadeEntry[] =>
  [...files].map(([path, bytes]) => ({ path, bytes, deflated }));

testStorage("a ZIP of stored files", (files) => ({ storage: zipStorage(handmadeZip(entriesOf(files, false))) }));
testStorage("a ZIP of deflated files", (files) => ({ storage: zipStorage(handmadeZip(entriesOf(files, true))) }));

const text = (value: string) => new TextEncoder().encode(value);
const a = { path: "a", bytes: text("some bytes") };

describe("before anything is read, a ZIP is refused", () => {
  const refused: readonly [string, readonly HandmadeEntry[], RegExp][] = [
    ["with a path that leaves it", [{ path: "../a" }], /\.\.\/a: expected an entry with a path inside the ZIP/],
    ["with a path that leaves a folder of it", [{ path: "x/../../a" }], /inside the ZIP/],
    ["with a path from the root", [{ path: "/etc/a" }], /inside the ZIP/],
    ["with a drive's letter", [{ path: "C:a" }], /inside the ZIP/],
    ["with backslashes", [{ path: "x\\..\\a" }], /inside the ZIP/],
    ["with an empty part", [{ path: "x//a" }], /inside the ZIP/],
    ["with a path twice", [a, a], /duplicate filename|there once/],
    ["with paths that differ by case", [a, { ...a, path: "A" }], /A: expected a path that is there once, in whatever case, received "a"/],
    ["with folders that differ by case", [{ path: "X/a" }, { path: "x/b" }], /there once/],
    ["with paths that differ by Unicode's form", [{ path: "\u00e9" }, { path: "e\u0301" }], /there once/],
    ["with a file below a file", [a, { path: "a/b" }], /a\/b: expected a folder above it, received the file "a"/],
    ["with a folder that is a file", [a, { path: "a/", mode: 0o040755 }], /expected a folder/],
    ["with a link", [{ ...a, mode: 0o120777 }], /a: expected a file or a folder, received a link/],
    ["with a device", [{ ...a, mode: 0o020666 }], /a link or a device/],
    ["that is encrypted", [{ ...a, flags: 1 }], /a: the ZIP is encrypted/],
    ["of another method", [{ ...a, method: 12 }], /a: compressed by method 12/],
    ["with bytes that two entries share", [a, { ...a, path: "b", says: { offset: 0 } }], /b: expected bytes of its own/],
    ["with sizes that no deflate gives", [{ ...a, deflated: true, says: { length: 2 ** 30 } }], /sizes that fit each other/],
    ["with sizes that nothing stored has", [{ ...a, says: { length: 11 } }], /sizes that fit each other/],
  ];
  test.each(refused)("%s", async (_, entries, message) => {
    const storage = zipStorage(handmadeZip(entries));
    await expect(storage.list("")).rejects.toThrow(message);
    await expect(storage.read("a")).rejects.toThrow(message);
    await expect(storage.read("a")).rejects.toThrow(/unpack it|download or copy it again/);
  });

  test("that unpacks to more than it may", async () => {
    const zip = handmadeZip([{ path: "zeros", bytes: new Uint8Array(2 ** 20), deflated: true }]);
    await expect(zipStorage(zip, { mostBytes: 2 ** 20 - 1 }).list("")).rejects.toThrow(/unpacks to at most 1048575 bytes; raise mostBytes/);
    expect((await zipStorage(zip, { mostBytes: 2 ** 20 }).read("zeros"))?.every((byte) => byte === 0)).toBe(true);
  });

  test.each([
    ["nothing", new Blob([])],
    ["another file", new Blob(["<!doctype html><p>not found</p>"])],
    ["the first half of one", handmadeZip([a]).slice(0, 40)],
    ["one that lacks its first bytes", handmadeZip([{ ...a, bytes: new Uint8Array(1000) }]).slice(500)],
  ])("that is %s", async (_, zip) => {
    const error = await zipStorage(zip)
      .list("")
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "CorruptCheckpointError" });
    expect(String(error)).not.toMatch(/dot-files/);
  });

  test.each([
    ["before", new Blob(["#!/bin/sh\nexit\n", handmadeZip([a])])],
    ["after", new Blob([handmadeZip([a]), "signed by nobody"])],
  ])("with bytes %s it, which other programs may read in another way", async (where, zip) => {
    await expect(zipStorage(zip).list("")).rejects.toMatchObject({
      name: "CorruptCheckpointError",
      received: `bytes that do not belong to it, ${where} it`,
      message: expect.stringMatching(/unpack it and make a new ZIP of the folder/),
    });
  });
});

describe("damage inside", () => {
  test.each([true, false])("of an entry (deflated: %s) is noticed by its CRC-32", async (deflated) => {
    const storage = zipStorage(handmadeZip([{ ...a, deflated, says: { crc: 1 } }]));
    await expect(storage.read("a")).rejects.toMatchObject({
      name: "CorruptCheckpointError",
      path: "a",
      advice: expect.stringMatching(/download or copy it again/),
    });
  });

  test.each([5, 20])("of a deflated entry that says %i bytes and has 10", async (length) => {
    const storage = zipStorage(handmadeZip([{ ...a, deflated: true, says: { length } }]));
    await expect(storage.read("a")).rejects.toMatchObject({ name: "CorruptCheckpointError" });
  });

  test("of a local header", async () => {
    const whole = new Uint8Array(await handmadeZip([a]).arrayBuffer());
    whole[0] = 0;
    const storage = zipStorage(new Blob([whole]));
    for (const options of [{}, { range: { offset: 1, length: 2 } }])
      await expect(storage.read("a", options)).rejects.toMatchObject({ name: "CorruptCheckpointError" });
  });
});

test("an outer folder is left out, a step's is not, and macOS's own files never show", async () => {
  const listed = async (...paths: string[]) => zipStorage(handmadeZip(paths.map((path) => ({ path })))).list("");
  expect(await listed("runs/digits/400/a", "runs/digits/800/a")).toEqual({ files: [], directories: ["400", "800"] });
  expect(await listed("400/a", "__MACOSX/400/._a", "400/.DS_Store")).toEqual({ files: [], directories: ["400"] });
  expect(await listed("x/a", "y")).toEqual({ files: ["y"], directories: ["x"] });
  expect(await listed("README.md", "LICENSE", "runs/digits/400/a", "runs/digits/notes.txt")).toEqual({
    files: ["notes.txt"],
    directories: ["400"],
  });
  expect(await listed("README.md", "400/a")).toEqual({ files: ["README.md"], directories: ["400"] });
});

test("pieces of a large deflated file are made as they are read", async () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251);
  const storage = zipStorage(handmadeZip([{ path: "large", bytes, deflated: true }]));
  let first: Uint8Array | undefined;
  for await (const piece of streamRange(storage, "large", { offset: 1_000_000, length: 1_500_000 })) {
    first = piece.slice();
    break;
  }
  expect(first?.length).toBeLessThan(1_000_000);
  expect(first?.[0]).toBe(bytes[1_000_000]);
});
