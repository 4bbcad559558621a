import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest";
import { type Fault, type RunningServer, startServer } from "../../../e2e/server/server.mjs";
import { isCheckpointError, StorageError } from "../../errors.js";
import { testStorage } from "../conformance.testing.js";
import { bytesOf } from "../conformanceFiles.testing.js";
import { httpStorage } from "../http.js";
import { memoryStorage } from "../memory.js";
import type { ReadableStorage, WritableStorage } from "../storage.js";
import { streamRange } from "../streamRange.js";
import { FakeSource, type Files, sentTwice } from "./fakeSource.testing.js";
import { mirrored } from "./mirrored.js";
import { big, dataFile, expectBytes, filesOfRun } from "./run.testing.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(files: ReadonlyMap<string, Uint8Array>, faults: readonly Fault[] = []): Promise<RunningServer> {
  const server = await startServer({ root: new Map(files), faults });
  running.push(server);
  return server;
}

for (const [name, faults] of Object.entries<readonly Fault[]>({
  "a good server": [],
  "a server that ignores ranges": [{ kind: "ignore-range" }],
  "a server that compresses": [{ kind: "gzip" }],
  "a server that hides its headers": [{ kind: "hide-headers" }],
})) {
  testStorage(`a mirror of ${name}`, async (files) => {
    const server = await startServer({ root: new Map(files), faults });
    return { storage: mirrored(server.url, memoryStorage()), close: () => server.close() };
  });
}

testStorage("a mirror of a storage", (files) => ({ storage: mirrored(memoryStorage(files), memoryStorage()) }));

testStorage("a mirror of a source that streams", (files) => ({
  storage: mirrored(new FakeSource(new Map(files), "etag", 100_000).storage, memoryStorage()),
}));

testStorage("a mirror's snapshot", (files) => ({ storage: mirrored(memoryStorage(files), memoryStorage()).snapshot() }));

testStorage("a mirror without its source", async (files) => {
  const source = new FakeSource(new Map(files));
  const cache = memoryStorage();
  await mirrored(source.storage, cache).download();
  source.isUp = false;
  return { storage: mirrored(source.storage, cache) };
});

testStorage("a mirror whose cache fails", (files) => ({ storage: mirrored(memoryStorage(files), failingStorage()) }));

/** A cache of which nothing can be had. */
function failingStorage(): WritableStorage {
  const fail = async () => {
    throw new StorageError({ path: "", reason: "unavailable", message: "there is no cache" });
  };
  return { read: fail, list: fail, create: fail, write: fail, move: fail, remove: fail };
}

/** Reads as a restore does: small files whole, parts of a large one, and a stream. */
async function readRun(storage: ReadableStorage, files: Files): Promise<void> {
  const place = storage.snapshot?.() ?? storage;
  const data = files.get(dataFile) ?? new Uint8Array();
  for (const path of ["100/_METADATA", "100/manifest.ocdbt", "100/empty"]) expectBytes(await place.read(path), files.get(path), path);
  expect(await place.read("100/absent")).toBeUndefined();
  const ranges = [
    { offset: 5, length: 10 },
    { offset: 4_194_300, length: 20 },
    { offset: 9_000_000, length: 1_000_000 },
  ];
  const parts = await Promise.all(ranges.map((range) => place.read(dataFile, { range })));
  for (const [index, { offset, length }] of ranges.entries()) expectBytes(parts[index], data.subarray(offset, offset + length));
  expectBytes(await streamed(place, data.length), data);
}

async function streamed(place: ReadableStorage, length: number): Promise<Uint8Array> {
  const whole = new Uint8Array(length);
  let at = 0;
  for await (const piece of streamRange(place, dataFile, { offset: 0, length })) {
    whole.set(piece, at);
    at += piece.length;
  }
  expect(at).toBe(length);
  return whole;
}

const totalOf = (files: Files) => [...files.values()].reduce((sum, { length }) => sum + length, 0);

describe("bytes", () => {
  test("come from the source once, in whatever order they are read, and then from the cache", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    const first = mirrored(source.storage, cache);
    await readRun(first, files);
    expect(sentTwice(source.sent)).toEqual([]);
    expect(source.sentBytes).toBe(totalOf(files));
    expect(first.progress).toMatchObject({ fetchedBytes: totalOf(files), offline: false, problem: undefined });
    expect(await first.size()).toBe(totalOf(files));

    const later = mirrored(source.storage, cache);
    await readRun(later, files);
    expect(source.sentBytes).toBe(totalOf(files));
    expect(later.progress.fetchedBytes).toBe(0);
    expect(later.progress.servedBytes).toBeGreaterThanOrEqual(totalOf(files));
  });

  test("come over HTTP once, and the second time only questions do, one a file that may change", async () => {
    const files = filesOfRun();
    const server = await serve(files);
    const cache = memoryStorage();
    await readRun(mirrored(server.url, cache), files);
    const sent = server.requests.filter(({ status }) => status < 300).reduce((sum, { bytes }) => sum + bytes, 0);
    expect(sent).toBe(totalOf(files));

    server.resetRequests();
    await readRun(mirrored(server.url, cache), files);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "HEAD /100/_METADATA",
      "HEAD /100/absent",
      "HEAD /100/empty",
      "HEAD /100/manifest.ocdbt",
    ]);
  });

  test("come once to two who read the same at the same time, in two tabs as in one", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    await Promise.all([
      readRun(mirrored(source.storage, cache), files),
      readRun(mirrored(source.storage, cache), files),
      readRun(mirrored(source.storage, cache), files),
    ]);
    expect(sentTwice(source.sent)).toEqual([]);
    expect(source.sentBytes).toBe(totalOf(files));
  });

  test("of a file that is read whole and is longer than a block come in parts", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    expectBytes(await mirrored(source.storage, cache).read(dataFile), files.get(dataFile));
    expect(source.sent.map(({ length }) => length)).toEqual([4_194_304, 4_194_304, big - 8_388_608]);
    expectBytes(await mirrored(source.storage, cache).read(dataFile), files.get(dataFile));
    expect(source.sent).toHaveLength(3);
    await expect(mirrored(source.storage, cache).read(dataFile, { longest: 10 })).rejects.toMatchObject({ reason: "length" });
  });

  test("that were aborted come again, those before do not", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    const mirror = mirrored(source.storage, cache);
    const stop = new AbortController();
    source.onSend = ({ offset }) => {
      if (offset > 8_000_000) stop.abort(new Error("enough"));
    };
    await expect(mirror.read(dataFile, { range: { offset: 0, length: big }, signal: stop.signal })).rejects.toThrow("enough");
    source.onSend = () => {};
    const kept = await mirror.size();
    expect(kept).toBeGreaterThan(0);
    source.sent.length = 0;
    await mirrored(source.storage, cache).read(dataFile, { range: { offset: 0, length: big } });
    expect(source.sentBytes).toBe(big - kept);
  });
});

test("size tells what is kept, and of a path what the source has", async () => {
  const mirror = mirrored(new FakeSource(filesOfRun()).storage, memoryStorage());
  expect(await mirror.size()).toBe(0);
  await mirror.read(dataFile, { range: { offset: 5, length: 10 } });
  expect(await mirror.size()).toBe(10);
  expect(await mirror.size(dataFile)).toBe(big);
  expect(await mirror.size("100/absent")).toBeUndefined();
  await expect(mirror.size("")).rejects.toMatchObject({ name: "CheckpointValueError" });
  expectTypeOf(mirror.size()).resolves.toEqualTypeOf<number>();
  expectTypeOf(mirror.size("a")).resolves.toEqualTypeOf<number | undefined>();
});

describe("without an answer from the source", () => {
  test("what was read is there, and each opening asks once", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    const first = mirrored(source.storage, cache);
    await first.list("100/");
    await readRun(first, files);
    source.isUp = false;
    source.asked = 0;
    const mirror = mirrored(source.storage, cache);
    await readRun(mirror, files);
    expect(source.asked).toBe(1);
    expect(mirror.progress).toMatchObject({ offline: true, fetchedBytes: 0 });
    expect(await mirror.list("100/")).toEqual({ files: ["_METADATA", "empty", "manifest.ocdbt"], directories: ["d"] });
    // Never read, and not there by the list.
    expect(await mirror.read("100/another")).toBeUndefined();
    expect(await mirror.list("100/e/")).toEqual({ files: [], directories: [] });
  });

  test("what is missing is named", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    await mirrored(source.storage, cache).read(dataFile, { range: { offset: 0, length: 10 } });
    source.isUp = false;
    const mirror = mirrored(source.storage, cache);
    expectBytes(await mirror.read(dataFile, { range: { offset: 2, length: 3 } }), files.get(dataFile)?.subarray(2, 5));
    const part = await mirror.read(dataFile, { range: { offset: 8, length: 4 } }).catch((error: unknown) => error);
    expect(isCheckpointError(part, "Storage") && [part.reason, part.path]).toEqual(["network", dataFile]);
    expect(String(part)).toMatch(
      /bytes 10 to 12 are not in the mirror, which has 10 of its 10000000 bytes, and the source gave .*connected.*download\(\)/,
    );
    await expect(mirror.read("100/_METADATA")).rejects.toThrow(/the file is not in the mirror, which has none of it/);
    await expect(mirror.list("100/")).rejects.toMatchObject({
      reason: "cannot-list",
      message: expect.stringContaining("not in the mirror"),
    });
    source.asked = 0;
    await expect(mirror.snapshot().read("100/manifest.ocdbt")).rejects.toMatchObject({ reason: "network" });
    expect(source.asked).toBe(1);
    // It is still there when the source comes back, and goes on.
    source.isUp = true;
    expectBytes(await mirror.read("100/_METADATA"), files.get("100/_METADATA"));
    expect(mirror.progress.offline).toBe(false);
  });

  test("a server that fails, or lets nobody in, does not take away what is kept", async () => {
    const files = filesOfRun();
    for (const status of [403, 503]) {
      const server = await serve(files);
      const cache = memoryStorage();
      await readRun(mirrored(server.url, cache), files);
      server.addFault({ kind: "status", status });
      await readRun(mirrored(server.url, cache), files);
      server.clearFaults();
      server.addFault({ kind: "body", body: "<!doctype html><title>Sign in to this network</title>" });
      const mirror = mirrored(server.url, cache);
      expectBytes(await mirror.read("100/_METADATA"), files.get("100/_METADATA"));
      expect(await mirror.size()).toBe(totalOf(files));
    }
  });
});

describe("a source that changed", () => {
  for (const validators of ["etag", "none"] as const) {
    test(`is noticed and mirrored anew, by ${validators === "etag" ? "its ETag" : "the bytes of short files"}`, async () => {
      const files = filesOfRun();
      const source = new FakeSource(files, validators);
      const cache = memoryStorage();
      await mirrored(source.storage, cache).download();
      files.set("100/manifest.ocdbt", bytesOf(500).reverse());
      files.delete(dataFile);
      files.set("100/d/ffffffffffffffffffffffffffffffff", bytesOf(1234));
      const mirror = mirrored(source.storage, cache);
      const place = mirror.snapshot();
      // The first is as it was, and stays; the second tells that all else that is kept counts for nothing.
      expectBytes(await place.read("100/_METADATA"), files.get("100/_METADATA"));
      expectBytes(await place.read("100/manifest.ocdbt"), files.get("100/manifest.ocdbt"));
      expect(await mirror.size()).toBe(1200);
      expectBytes(await place.read("100/d/ffffffffffffffffffffffffffffffff"), bytesOf(1234));

      source.isUp = false;
      const offline = mirrored(source.storage, cache);
      expectBytes(await offline.read("100/_METADATA"), files.get("100/_METADATA"));
      expectBytes(await offline.read("100/manifest.ocdbt"), files.get("100/manifest.ocdbt"));
      await expect(offline.read("100/empty")).rejects.toMatchObject({ reason: "network" });
    });
  }

  test("between two reads of one file is an error, and the next opening reads the new one", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    const mirror = mirrored(source.storage, cache);
    const place = mirror.snapshot();
    await place.read(dataFile, { range: { offset: 0, length: 10 } });
    const next = bytesOf(big).fill(9, 0, 100);
    files.set(dataFile, next);
    await expect(place.read(dataFile, { range: { offset: 50, length: 10 } })).rejects.toMatchObject({ reason: "changed", path: dataFile });
    expect(await mirror.snapshot().read(dataFile, { range: { offset: 0, length: 60 } })).toEqual(next.subarray(0, 60));
  });

  test("of a file whose other part was kept before is noticed by the answer itself", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    await mirrored(source.storage, cache).read(dataFile, { range: { offset: 0, length: 10 } });
    const next = bytesOf(big).fill(9, 0, 100);
    files.set(dataFile, next);
    const range = { offset: 0, length: 60 };
    const mirror = mirrored(source.storage, cache);
    await expect(mirror.snapshot().read(dataFile, { range })).rejects.toMatchObject({ reason: "changed", path: dataFile });
    expect(await mirror.snapshot().read(dataFile, { range })).toEqual(next.subarray(0, 60));
  });

  test("by a file that came or went lets the others be", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    const before = mirrored(source.storage, cache);
    await before.download();
    expect(await before.read("100/later")).toBeUndefined();
    files.set("100/later", bytesOf(5));
    files.delete("100/_METADATA");
    const mirror = mirrored(source.storage, cache);
    expectBytes(await mirror.read("100/later"), bytesOf(5));
    expect(await mirror.read("100/_METADATA")).toBeUndefined();
    source.isUp = false;
    const offline = mirrored(source.storage, cache);
    expect(await offline.read("100/_METADATA")).toBeUndefined();
    expectBytes(await offline.read(dataFile), files.get(dataFile));
  });
});

describe("download", () => {
  test("keeps a folder, or all, and goes on where it stopped", async () => {
    const files = filesOfRun();
    files.set("200/_METADATA", bytesOf(900));
    const source = new FakeSource(files);
    const cache = memoryStorage();
    await mirrored(source.storage, cache).download("200");
    expect(source.sentBytes).toBe(900);
    const mirror = mirrored(source.storage, cache);
    source.onSend = ({ offset }) => {
      if (offset > 0) mirror.abort();
    };
    await expect(mirror.download()).rejects.toMatchObject({ name: "AbortError" });
    source.onSend = () => {};
    const kept = await mirror.size();
    source.sent.length = 0;
    await mirror.download();
    expect(source.sentBytes).toBe(totalOf(files) - kept);
    source.isUp = false;
    await readRun(mirrored(source.storage, cache), files);
  });

  test("says why something could not be kept", async () => {
    const source = new FakeSource(filesOfRun());
    await expect(mirrored(source.storage, failingStorage()).download()).rejects.toMatchObject({ reason: "unavailable" });
    await expect(mirrored(source.storage, memoryStorage()).download("/100")).rejects.toThrow(/path/);
  });
});

test("a disk that fills lets reads go on, and what was kept is not fetched again when there is room", async () => {
  const files = filesOfRun();
  const source = new FakeSource(files);
  const memory = memoryStorage();
  let free = 5_000_000;
  const cache: WritableStorage = {
    ...memory,
    async create(path, options) {
      const writer = await memory.create(path, options);
      const write = async (bytes: Uint8Array) => {
        if (bytes.length > free) throw new StorageError({ path, reason: "quota", message: "the disk is full" });
        free -= bytes.length;
        await writer.write(bytes);
      };
      return { ...writer, write };
    },
  };
  const mirror = mirrored(source.storage, cache);
  await readRun(mirror, files);
  expect(mirror.progress.problem).toMatchObject({ reason: "quota" });
  await expect(mirror.download()).rejects.toMatchObject({ reason: "quota" });
  free = 100_000_000;
  const kept = await mirror.size();
  expect(kept).toBeGreaterThan(0);
  source.sent.length = 0;
  const later = mirrored(source.storage, cache);
  await readRun(later, files);
  expect(source.sentBytes).toBe(totalOf(files) - kept);
  expect(later.progress.problem).toBeUndefined();
});

test("a limit holds for all mirrors of the cache, and what was used longest ago goes first", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const cache = memoryStorage();
  const source = new FakeSource(new Map(["a", "b", "c"].map((path) => [path, bytesOf(1000)])));
  const mirrorOf = (name: string, limit?: number) => mirrored({ ...source.storage, name: `https://${name}.example` }, cache, { limit });
  const read = async (name: string, path: string) => {
    vi.advanceTimersByTime(1000);
    const mirror = mirrorOf(name, 5000);
    await mirror.read(path);
    await mirror.size(); // when it is kept
  };
  for (const path of ["a", "b", "c"]) await read("one", path);
  for (const path of ["a", "b"]) await read("two", path);
  await read("one", "a");
  expect([await mirrorOf("one").size(), await mirrorOf("two").size()]).toEqual([3000, 2000]);
  await read("two", "c"); // 6000 bytes now, of which b of one, then c, are the oldest
  expect([await mirrorOf("one").size(), await mirrorOf("two").size()]).toEqual([1000, 3000]);
  vi.useRealTimers();
  for (const limit of [0, -1, 1.5, Number.NaN]) expect(() => mirrored("https://x.example", cache, { limit })).toThrow(/limit/);
});

test("a mirror is removed with all that it has, and reads go on", async () => {
  const files = filesOfRun();
  const source = new FakeSource(files);
  const cache = memoryStorage();
  const mirror = mirrored(source.storage, cache);
  const place = mirror.snapshot();
  await place.read("100/_METADATA");
  await mirror.remove();
  expect(await cache.list("")).toEqual({ files: [], directories: [] });
  expect(await mirror.size()).toBe(0);
  expectBytes(await place.read("100/manifest.ocdbt"), files.get("100/manifest.ocdbt"));
  expect(await mirror.size()).toBe(0);
  await readRun(mirror, files);
  expect(await mirror.size()).toBe(totalOf(files));
});

test("progress is told as bytes come", async () => {
  const source = new FakeSource(filesOfRun());
  const told: number[] = [];
  const mirror = mirrored(source.storage, memoryStorage(), { onProgress: ({ fetchedBytes }) => told.push(fetchedBytes) });
  await mirror.read(dataFile);
  expect([...new Set(told)]).toEqual([4_194_304, 8_388_608, big]);
  expect(mirror.progress).toEqual({ path: dataFile, fetchedBytes: big, servedBytes: 0, offline: false, problem: undefined });
});

test("credentials and queries of the source do not come into the cache", async () => {
  const server = await serve(new Map([["a", bytesOf(5)]]));
  const cache = memoryStorage();
  const url = new URL(server.url);
  url.username = "user";
  url.password = "secret";
  url.search = "?token=secret";
  await mirrored(httpStorage(url), cache).read("a");
  const all: string[] = [];
  const visit = async (prefix: string): Promise<void> => {
    const { files, directories } = await cache.list(prefix);
    for (const name of files) all.push(prefix + name, Buffer.from((await cache.read(prefix + name)) ?? []).toString());
    for (const name of directories) await visit(`${prefix}${name}/`);
  };
  await visit("");
  expect(all.join("\n")).toContain("127.0.0.1");
  expect(all.join("\n")).not.toContain("secret");
});

test("a folder that is not there was not downloaded", async () => {
  const mirror = mirrored(memoryStorage({ "12/a": bytesOf(5) }), memoryStorage());
  await expect(mirror.download("13")).rejects.toMatchObject({ name: "CheckpointNotFoundError", message: expect.stringMatching(/\/13; /) });
});
