import { describe, expect, test } from "vitest";
import type { ByteRange } from "../../bytes/ranges.js";
import { filesOf } from "../../checkpoint/save/faultyStorage.testing.js";
import { memoryStorage } from "../memory.js";
import type { ReadableStorage, WritableStorage } from "../storage.js";
import { streamRange } from "../streamRange.js";
import { FakeSource, sentTwice } from "./fakeSource.testing.js";
import { mirrored } from "./mirrored.js";
import { big, dataFile, expectBytes, filesOfRun } from "./run.testing.js";

describe("a block that is on its way", () => {
  const block = { offset: 0, length: 4_194_304 };
  const pieceLength = 500_000;

  test("is handed on as it comes, and keeps what had come when the reader left or the source failed", async () => {
    for (const how of ["leaves", "fails"] as const) {
      const files = filesOfRun();
      const source = new FakeSource(files, "etag", pieceLength);
      const cache = memoryStorage();
      const mirror = mirrored(source.storage, cache);
      source.onSend = ({ offset }) => {
        if (how === "fails" && offset >= 4 * pieceLength) source.isUp = false;
      };
      const read = async () => {
        let got = 0;
        for await (const piece of streamRange(mirror, dataFile, block)) {
          got += piece.length;
          if (how === "leaves" && got >= 2 * pieceLength) return;
        }
      };
      if (how === "fails") await expect(read()).rejects.toMatchObject({ reason: "network" });
      else await read();
      const kept = await until(() => mirror.size());
      expect(kept % pieceLength).toBe(0);
      expect(kept).toBeLessThan(block.length);
      source.isUp = true;
      source.onSend = () => {};
      source.sent.length = 0;
      const later = mirrored(source.storage, cache);
      expectBytes(await later.read(dataFile, { range: block }), files.get(dataFile)?.subarray(0, block.length));
      expect(source.sentBytes).toBe(block.length - kept);
      expect(await later.size()).toBe(block.length);
      const names = (await filesOf(cache)).keys();
      expect([...names].filter((path) => path.endsWith(".growing"))).toEqual([]);
    }
  });

  test("does not make its reader wait for the cache", async () => {
    const memory = memoryStorage();
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const cache: WritableStorage = { ...memory, create: (path, options) => begun.then(() => memory.create(path, options)) };
    const files = filesOfRun();
    const mirror = mirrored(new FakeSource(files).storage, cache);
    expectBytes(await mirror.read(dataFile, { range: block }), files.get(dataFile)?.subarray(0, block.length));
    expectBytes(await mirror.read("100/_METADATA"), files.get("100/_METADATA"));
    begin();
    expect(await mirror.size()).toBe(block.length + 700);
  });

  test("of a file that is not there, in a place that streams, is no block", async () => {
    const source = new FakeSource(filesOfRun(), "etag", pieceLength);
    const mirror = mirrored(source.storage, memoryStorage());
    expect(await mirror.read("100/absent", { range: block })).toBeUndefined();
    source.isUp = false;
    expect(await mirror.read("100/absent", { range: block })).toBeUndefined();
  });

  test("counts, when its writer was killed, by the length that it came to, unless that cannot be", async () => {
    const files = filesOfRun();
    const source = new FakeSource(files);
    const cache = memoryStorage();
    await mirrored(source.storage, cache).size(dataFile);
    const record = [...(await filesOf(cache)).keys()].find((path) => path.endsWith("record.json")) ?? "";
    const { id } = JSON.parse(Buffer.from((await cache.read(record)) ?? []).toString());
    const put = (offset: number, bytes: Uint8Array) => cache.write(record.replace("record.json", `${id}.${offset}.growing`), bytes);
    const data = files.get(dataFile) ?? new Uint8Array();
    await put(100, data.subarray(100, 1100));
    await put(5_000_000, new Uint8Array());
    await put(8_388_608, new Uint8Array(big - 8_388_608 + 1)); // past the end of the file
    expectBytes(await mirrored(source.storage, cache).read(dataFile), data);
    expect(source.sentBytes).toBe(big - 1000);
    expect(sentTwice(source.sent)).toEqual([]);
  });
});

/** What something comes to that is still going on, when it has come to something. */
async function until(look: () => Promise<number>): Promise<number> {
  let last = await look();
  for (let quiet = 0; quiet < 20; quiet++) {
    await new Promise((resolve) => setTimeout(resolve));
    const now = await look();
    if (now !== last) quiet = 0;
    last = now;
  }
  return last;
}

describe("a source that does not give what it was asked for", () => {
  const bytes = new Uint8Array(3_000_000).fill(1);
  const sourceGiving = (give: (range: ByteRange) => Uint8Array): ReadableStorage => ({
    name: "odd",
    read: async (_, { range } = {}) => (range === undefined ? bytes : give(range)),
    async *stream(_, range) {
      yield give(range);
    },
    list: async () => ({ files: ["file"], directories: [] }),
  });

  test.each([
    ["too few bytes", ({ offset, length }: ByteRange) => bytes.subarray(offset, offset + Math.min(length, 100)), "length"],
    ["too many", ({ length }: ByteRange) => new Uint8Array(length + 1), "io"],
  ])("fails the read, and holds up nobody: %s", async (_, give, reason) => {
    const cache = memoryStorage();
    const mirror = mirrored(sourceGiving(give), cache);
    for (const range of [
      { offset: 0, length: 2_000_000 },
      { offset: 0, length: 1000 },
    ]) {
      await expect(mirror.read("file", { range })).rejects.toMatchObject({ name: "StorageError", reason });
    }
    await mirror.remove();
    expect((await filesOf(cache)).size).toBe(0);
  });
});

test("no more than 16 MiB wait for a cache that is slower than the source", async () => {
  const blocks = 12;
  const file = Uint8Array.from({ length: blocks * 4_194_304 }, (_, index) => index ^ (index >>> 11) ^ (index >>> 22));
  const source = new FakeSource(new Map([["d/long", file]]), "etag", 1_000_000);
  const cache = memoryStorage();
  let proceed = () => {};
  const stalled = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  const slow: WritableStorage = {
    ...cache,
    create: async (path, options) => {
      const writer = await cache.create(path, options);
      return {
        ...writer,
        write: async (bytes) => stalled.then(() => writer.write(bytes)),
        close: () => writer.close(),
        abort: () => writer.abort(),
      };
    },
  };
  const mirror = mirrored(source.storage, slow);
  let got = 0;
  const read = async (from: ReadableStorage) => {
    got = 0;
    for await (const piece of streamRange(from, "d/long", { offset: 0, length: file.length })) {
      expectBytes(piece, file.subarray(got, got + piece.length));
      got += piece.length;
    }
  };
  const reading = read(mirror);
  await expect.poll(() => got).toBe(4 * 4_194_304);
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve));
  expect(source.sentBytes).toBe(4 * 4_194_304);
  proceed();
  await reading;
  expect(got).toBe(file.length);
  expect(await mirror.size()).toBe(file.length);
  source.isUp = false;
  await read(mirrored(source.storage, cache));
  expect(got).toBe(file.length);
});
