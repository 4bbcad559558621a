import { describe, expect, test } from "vitest";
import { FaultyStorage, type Files, filesOf } from "../../checkpoint/save/faultyStorage.testing.js";
import { StorageError } from "../../errors.js";
import { bytesOf } from "../conformanceFiles.testing.js";
import { memoryStorage } from "../memory.js";
import type { WritableStorage } from "../storage.js";
import { blockLength } from "./extents.js";
import { FakeSource, sentTwice } from "./fakeSource.testing.js";
import { type Mirror, mirrored } from "./mirrored.js";

// A cache that fails, or stops as a killed tab does, at every single change: reads give the right bytes, and no byte that was kept is fetched
// again, nor is one taken for kept that is not.

const data = "100/d/0123456789abcdef0123456789abcdef";

const sourceFiles = (): Files =>
  new Map([
    ["100/_METADATA", bytesOf(700)],
    ["100/manifest.ocdbt", bytesOf(400)],
    [data, bytesOf(blockLength + 1000)],
    ["100/empty", new Uint8Array()],
  ]);

/** Reads everything in some pieces, and checks the bytes; whether something was read twice, or what failed. */
async function readAll(source: FakeSource, cache: WritableStorage): Promise<void> {
  const mirror = mirrored(source.storage, cache);
  const place = mirror.snapshot();
  const read = (path: string, offset: number, length: number) => place.read(path, { range: { offset, length } });
  const expectBytes = (bytes: Uint8Array | undefined, path: string, start = 0, end?: number) => {
    const expected = source.files.get(path)?.subarray(start, end) ?? new Uint8Array();
    expect(bytes?.length).toBe(expected.length);
    expect(Buffer.compare(bytes ?? new Uint8Array(), expected)).toBe(0);
  };
  expectBytes(await place.read("100/_METADATA"), "100/_METADATA");
  expectBytes(await place.read("100/manifest.ocdbt"), "100/manifest.ocdbt");
  expectBytes(await place.read("100/empty"), "100/empty");
  expect(await place.read("100/absent")).toBeUndefined();
  const [first, second] = await Promise.all([read(data, 100, 50), read(data, blockLength - 10, 20)]);
  expectBytes(first, data, 100, 150);
  expectBytes(second, data, blockLength - 10, blockLength + 10);
  expectBytes(await place.read(data), data);
  await kept(mirror);
}

/** Waits until what was read is kept, or cannot be. */
const kept = (mirror: Mirror) => mirror.size().catch(() => undefined);

/** Of what the source streams, in bytes. */
const pieceLength = 512 * 1024;

const total = [...sourceFiles().values()].reduce((sum, { length }) => sum + length, 0);

describe("a cache that is interrupted at any change", () => {
  for (const kind of ["fails", "stops"] as const) {
    test(`where it ${kind}`, async () => {
      const files = sourceFiles();
      const sourceOf = () => new FakeSource(files, "etag", pieceLength);
      const whole = new FaultyStorage(memoryStorage());
      await readAll(sourceOf(), whole.storage);
      expect(whole.changes).toBeGreaterThan(30);
      const keptOf = new Set<number>();
      for (let at = 0; at < whole.changes; at++) {
        const place = `${kind} at change ${at} of ${whole.changes}`;
        const source = sourceOf();
        const faulty = new FaultyStorage(memoryStorage(), { at, kind });
        await readAll(source, faulty.storage);
        const cache = memoryStorage(await faulty.files());
        const before = await mirrored(source.storage, cache).size();
        keptOf.add(before);
        source.sent.length = 0;
        await readAll(source, cache);
        expect(sentTwice(source.sent), place).toEqual([]);
        expect(source.sentBytes, place).toBe(total - before);
        source.isUp = false;
        await readAll(source, cache);
        expect(
          [...(await filesOf(cache)).keys()].filter((path) => /\.(partial|growing)$/.test(path)),
          place,
        ).toEqual([]);
      }
      // What was written of a block that was cut counts; where a write failed, nothing of it does.
      const inBlock = [...keptOf].filter((length) => length > pieceLength && length < blockLength - pieceLength);
      if (kind === "stops") expect(inBlock.length).toBeGreaterThan(5);
    });
  }
});

test("an end at any change of a mirror that is made anew leaves no byte of the old version among the new ones", async () => {
  const old = sourceFiles();
  const filled = memoryStorage();
  await readAll(new FakeSource(old), filled);
  const start = await filesOf(filled);
  const next: Files = new Map(
    [...old].map(([path, bytes]) => [path === data ? data.replace("0123", "9999") : path, bytes.map((byte) => byte ^ 255)]),
  );
  const readNext = async (source: FakeSource, cache: WritableStorage) => {
    const mirror = mirrored(source.storage, cache);
    const place = mirror.snapshot();
    for (const [path, bytes] of next) expect(Buffer.compare((await place.read(path)) ?? new Uint8Array(), bytes), path).toBe(0);
    await kept(mirror);
  };
  const whole = new FaultyStorage(memoryStorage(new Map(start)));
  await readNext(new FakeSource(next), whole.storage);
  for (let at = 0; at < whole.changes; at++) {
    const faulty = new FaultyStorage(memoryStorage(new Map(start)), { at, kind: "stops" });
    const source = new FakeSource(next);
    await readNext(source, faulty.storage);
    const cache = memoryStorage(await faulty.files());
    // Without the source all is of one version: the old one before it was noticed, or what is there of the new one.
    source.isUp = false;
    const offline = mirrored(source.storage, cache);
    const versions = new Set<string>();
    for (const path of ["100/_METADATA", "100/manifest.ocdbt"]) {
      const bytes = await offline.read(path).catch(() => undefined);
      if (bytes !== undefined) versions.add(Buffer.compare(bytes, next.get(path) ?? new Uint8Array()) === 0 ? "new" : "old");
    }
    expect(versions.size, `stops at change ${at} of ${whole.changes}`).toBeLessThanOrEqual(1);
    source.isUp = true;
    await readNext(source, cache);
    source.isUp = false;
    await readNext(source, cache);
  }
});

test("a cache that says that it wrote all, and did not, is found out", async () => {
  const files = sourceFiles();
  const source = new FakeSource(files);
  const memory = memoryStorage();
  const lying: WritableStorage = {
    ...memory,
    async create(path, options) {
      const writer = await memory.create(path, options);
      return { ...writer, write: (bytes) => writer.write(bytes.subarray(0, bytes.length >> 1)) };
    },
  };
  await readAll(source, lying);
  expect(await mirrored(source.storage, memory).size()).toBe(0);
  await readAll(source, memory);
  source.isUp = false;
  await readAll(source, memory);
});

test("records that are damaged count for nothing", async () => {
  const files = sourceFiles();
  const source = new FakeSource(files);
  const memory = memoryStorage();
  await readAll(source, memory);
  for (const damage of ["", "{", "[]", '{"format":2}', '{"format":1,"path":3}', '{"format":1,"source":"x"}', "\ud800"]) {
    const cache = memoryStorage(await filesOf(memory));
    for (const path of (await filesOf(cache)).keys()) {
      if (path.endsWith(".json")) await cache.write(path, new TextEncoder().encode(damage));
    }
    source.sent.length = 0;
    await readAll(source, cache);
    expect(source.sentBytes).toBe(total);
  }
});

test("a cache that cannot be read any more lets reads go on", async () => {
  const source = new FakeSource(sourceFiles());
  const memory = memoryStorage();
  await readAll(source, memory);
  let reads = 0;
  const failing: WritableStorage = {
    ...memory,
    async read(path, options) {
      if (reads++ % 3 === 2) throw new StorageError({ path, reason: "io", message: "the disk is damaged" });
      return memory.read(path, options);
    },
  };
  await readAll(source, failing);
});
