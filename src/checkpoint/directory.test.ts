import { afterEach, describe, expect, it, vi } from "vitest";
import { CheckpointValueError, StorageError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { directoryName, resolveCheckpointDir, storageOf } from "./directory.js";
import { OrbaxCheckpointStore } from "./store.js";

describe("the store's constructor (substrax-behaviour 1)", () => {
  it.each(["", "  ", "\t\n"])("refuses the blank directory %j", (directory) => {
    expect(() => new OrbaxCheckpointStore(directory)).toThrow(CheckpointValueError);
  });

  it.each([null, undefined, 5, {}, new URL("file:///tmp")])("refuses %s", (directory) => {
    expect(() => new OrbaxCheckpointStore(directory as string)).toThrow(CheckpointValueError);
  });

  it.each([
    ["ftp://host/run", /not ftp:.*https address/],
    [new URL("ftp://user:secret@host/run"), /not ftp:.*https address/],
    ["s3://user:secret@bucket/run", /s3:\/\/bucket\/path, without credentials/],
    [new URL("s3://user:secret@bucket/run"), /s3:\/\/bucket\/path, without credentials/],
    ["gs://", /gs:\/\/bucket\/path/],
    ["hf://secret", /hf:\/\/owner\/repo@revision\/path/],
    ["file:///tmp/run", /not file:.*nodeStorage/],
    [new URL("file:///tmp/run"), /not file:.*nodeStorage/],
    ["http:/example.org/run", /not an invalid http: one; it looks like https:\/\/host\/folder/],
    ["https://", /not an invalid https: one; it looks like https:\/\/host\/folder/],
    ["http://host:99999/secret", /not an invalid http: one;.*port of at most 65535/],
    ["https:secret", /not an invalid https: one/],
    ["s3:/secret/run", /not an incomplete s3: one; it looks like s3:\/\/bucket\/path/],
    ["GS:secret", /not an incomplete gs: one; it looks like gs:\/\/bucket\/path/],
    ["hf:secret/repo", /not an incomplete hf: one; it looks like hf:\/\/owner\/repo@revision\/path/],
    ["file:/tmp/run", /not file:.*nodeStorage/],
    ["blob:https://host/secret", /not blob:; .*zipStorage\(await \(await fetch\(url\)\)\.blob\(\)\)/],
    [new URL("blob:https://host/secret"), /not blob:; .*zipStorage/],
    ["data:application/zip;base64,secret", /not data:; .*zipStorage/],
    ["chrome-extension://secret/run", /not chrome-extension:; .*opfsStorage\(path\)/],
    ["run:secret", /not run:; .*opfsStorage\(path\)/],
    [new URL("opfs:/secret"), /not opfs:; /],
    ["C:\\secret", /not a drive of Windows; .*nodeStorage\(path\)/],
    ["c:/secret", /not a drive of Windows; .*nodeStorage\(path\)/],
    ["s3://bucket/run?region=eu-west-1&token=secret", /s3: addresses have no query: .*\{ region, endpoint, headers \}/],
    [new URL("gs://bucket/run?token=secret"), /gs: addresses have no query/],
    ["hf://owner/repo/run?download=secret", /hf: addresses have no query/],
  ])("says what to give instead of %s", (directory, message) => {
    expect(() => new OrbaxCheckpointStore(directory)).toThrow(message);
    expect(() => new OrbaxCheckpointStore(directory)).not.toThrow(/secret/);
  });

  it.each(["runs/a:b", "/C:/runs", "run/a://b", "2024-01-01T10:00", "gs", "opfs:/runs", "opfs:"])(
    "takes %j for a folder's path",
    (directory) => {
      expect(new OrbaxCheckpointStore(directory)).toBeInstanceOf(OrbaxCheckpointStore);
    },
  );

  it.each([0, -1, 1.5, "2", true])("refuses maxToKeep %s", (maxToKeep) => {
    expect(() => new OrbaxCheckpointStore("a", { maxToKeep: maxToKeep as number })).toThrow(/maxToKeep/);
  });

  it.each([0, 1.5, 1024, "64"])("refuses readConcurrentBytes %s", (readConcurrentBytes) => {
    expect(() => new OrbaxCheckpointStore("a", { readConcurrentBytes: readConcurrentBytes as number })).toThrow(/readConcurrentBytes/);
  });

  it("touches nothing", () => {
    expect(new OrbaxCheckpointStore("some/folder", { maxToKeep: null })).toBeInstanceOf(OrbaxCheckpointStore);
    expect(new OrbaxCheckpointStore("https://example.invalid/run", { maxToKeep: 1 })).toBeInstanceOf(OrbaxCheckpointStore);
  });

  it("a path in Node is an error on first use that names nodeStorage", async () => {
    const error = await new OrbaxCheckpointStore("some/folder").listSteps().catch((reason) => reason);
    expect(error).toBeInstanceOf(StorageError);
    expect(error).toMatchObject({ reason: "unavailable" });
    expect(error.message).toContain("nodeStorage");
  });
});

describe("directoryName", () => {
  it("keeps credentials and queries out", () => {
    expect(directoryName("https://user:secret@host/run?token=secret")).toBe("https://host/run");
    expect(directoryName(new URL("https://user:secret@host/run#x"))).toBe("https://host/run");
    expect(directoryName(memoryStorage())).not.toBe("");
  });

  it("says that a folder's path is one in the browser's private file system", () => {
    expect(directoryName("runs/digits")).toBe("opfs:/runs/digits");
    expect(directoryName("/")).toBe("opfs:");
  });
});

describe("storageOf", () => {
  it("makes an HTTP storage of a URL, and takes a storage as it is", () => {
    const storage = memoryStorage();
    expect(storageOf(storage)).toBe(storage);
    expect(storageOf("https://host/run").name).toContain("https://host/run");
    expect(storageOf(new URL("https://host/run")).name).toContain("https://host/run");
  });

  it.each([
    ["gs://bucket/run", "https://storage.googleapis.com/bucket/run"],
    ["S3://bucket/run/", "https://bucket.s3.amazonaws.com/run"],
    [new URL("hf://owner/repo@v1/run"), "https://huggingface.co/owner/repo/resolve/v1/run"],
  ])("takes %s for a place on the web", (directory, name) => {
    expect(storageOf(directory).name).toBe(name);
    expect(directoryName(directory)).toBe(name);
  });

  it.each([
    ["runs/digits", "opfs:/runs/digits"],
    ["/runs//digits/", "opfs:/runs/digits"],
    ["./a/../b c%20", "opfs:/b c%20"],
    ["../a", "opfs:/a"],
    ["opfs:/runs/digits", "opfs:/runs/digits"],
    ["opfs:", "opfs:"],
    [".", "opfs:"],
  ])("opens the folder %j of the private file system", (directory, name) => {
    expect(storageOf(directory).name).toBe(name);
  });
});

describe("resolveCheckpointDir", () => {
  afterEach(() => vi.restoreAllMocks());

  const inFolder = (folder: string) => vi.spyOn(process, "cwd").mockReturnValue(folder);

  it("needs one of the two", () => {
    expect(() => resolveCheckpointDir(null, undefined)).toThrow(CheckpointValueError);
  });

  it.each([
    ["a", "run", "/home/me/a"],
    [null, "run", "/home/me/run/checkpoints"],
    ["", "run", "/home/me"],
    ["/abs/../x/./y", null, "/x/y"],
    ["../a", null, "/home/a"],
    ["../../../../a", null, "/a"],
    ["~/a", null, "/home/me/~/a"],
    ["https://host/run/../x", null, "https://host/x"],
    [null, "https://host/run/", "https://host/run/checkpoints"],
    [null, "https://host/run?sig=a/b", "https://host/run/checkpoints?sig=a/b"],
    [null, "gs://bucket/run/", "gs://bucket/run/checkpoints"],
    ["opfs:/runs/a", null, "opfs:/runs/a"],
    [null, "opfs:/runs/a", "opfs:/runs/a/checkpoints"],
    ["hf://owner/repo@v1/a b", null, "hf://owner/repo@v1/a b"],
  ])("resolves (%j, %j) to %s", (checkpointDir, runDir, resolved) => {
    inFolder("/home/me");
    expect(resolveCheckpointDir(checkpointDir, runDir)).toBe(resolved);
  });

  it("keeps a Windows drive", () => {
    inFolder("C:\\Users\\me");
    expect(resolveCheckpointDir("..\\a", null)).toBe("C:/Users/a");
    expect(resolveCheckpointDir("D:\\b", null)).toBe("D:/b");
  });

  it("resolves against the root of the private file system in a browser", () => {
    vi.stubGlobal("process", undefined);
    expect(resolveCheckpointDir(null, "runs/1")).toBe("/runs/1/checkpoints");
    vi.unstubAllGlobals();
  });
});
