import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { placeBlock } from "../../arrays/place.js";
import { encoded, weights } from "../../codecs/zstd/frames.testing.js";
import { loadZstd } from "../../codecs/zstd/loadZstd.js";
import { directoryReading } from "../../storage/directoryHandle.js";
import { FakeFileSystem } from "../../storage/fileSystem/fakeFileSystem.testing.js";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { subfolder } from "../../storage/subfolder.js";
import { ByteBudget } from "../../tasks/budget.js";
import { WorkerPool } from "../../tasks/workerPool.js";
import { openZarrArray } from "../../zarr/openArray.js";
import type { WriteBlocks } from "./delivery.js";
import { moveBytes, type Transfer } from "./transfer.js";
import { workersHere } from "./workersHere.testing.js";

// Files that workers read themselves: the workers' own script, on this thread.

const chunkLength = 512 * 1024;
/** Chunks that all files are made of. */
const contents = Array.from({ length: 7 }, (_, seed) => weights(chunkLength, seed + 1));
let frames: readonly Uint8Array[];

beforeAll(async () => {
  frames = await Promise.all(contents.map((content) => encoded(content)));
});
beforeEach(() => {
  vi.stubGlobal("FileSystemSyncAccessHandle", { prototype: { mode: "read-only" } });
  vi.stubGlobal("structuredClone", (value: unknown) => value); // the workers of these tests take any handle
});
afterEach(() => vi.unstubAllGlobals());

/** A data file of zstd frames, one a chunk. */
interface DataFile {
  readonly folder: string;
  readonly path: string;
  readonly chunks: number;
}

const fileIn = (folder: string, name: string, chunks: number): DataFile => ({ folder, path: `d/${name}`, chunks });

/** Each file is one array, restored into memory. `isInline`: its chunks stand in the index, of which that file is a part. */
async function madeFiles(
  files: readonly DataFile[],
  {
    isInline = false,
    asSeen = (storage) => storage,
  }: { readonly isInline?: boolean; readonly asSeen?: (storage: ReadableStorage) => ReadableStorage } = {},
) {
  const system = new FakeFileSystem();
  const root = asSeen(directoryReading("place", async () => system.directory()));
  const folders = new Map([...new Set(files.map(({ folder }) => folder))].map((folder) => [folder, subfolder(root, folder)]));
  const transfers: Transfer<Uint8Array>[] = [];
  const expected: Uint8Array[] = [];
  for (const [seed, { folder, path, chunks }] of files.entries()) {
    const ofFile = <Each>(pool: readonly Each[]) =>
      Array.from({ length: chunks }, (_, index) => pool[(seed + index) % pool.length] as Each);
    const content = Buffer.concat(ofFile(contents));
    system.files.set(`${folder}/${path}`, { bytes: Uint8Array.from(Buffer.concat(ofFile(frames))), lastModified: 1 });
    const zarray = { zarr_format: 2, shape: [content.length], chunks: [chunkLength], dtype: "|u1", order: "C", compressor: { id: "zstd" } };
    const metadata = new TextEncoder().encode(JSON.stringify({ ...zarray, fill_value: null, filters: null }));
    const array = await openZarrArray(memoryStorage({ ".zarray": metadata }), "");
    const storage = folders.get(folder);
    if (array === undefined || storage === undefined) throw new Error("no array");
    let offset = 0;
    const located = Array.from(array.chunks(), (chunk, index) => {
      const range = { offset, length: ofFile(frames)[index]?.length ?? 0 };
      offset += range.length;
      const bytes = system.files.get(`${folder}/${path}`)?.bytes.subarray(range.offset, offset) ?? new Uint8Array();
      const inline = { kind: "inline", bytes, path, offset: range.offset } as const;
      return { chunk, source: isInline ? inline : ({ kind: "range", storage, path, range } as const) };
    });
    const target = new Uint8Array(content.length);
    transfers.push({ array, dtype: "uint8", folder, chunks: located, missingChunksAreLost: true, target, chunkDone: () => {} });
    expected.push(content);
  }
  const write: WriteBlocks<Uint8Array> = (blocks) => {
    for (const { target, block } of blocks) placeBlock(target, { shape: [target.length], dtype: "uint8" }, block);
  };
  const budget = new ByteBudget(64 * 1024 * 1024);
  const restore = async (workers: WorkerPool | undefined, signal?: AbortSignal) => {
    const zstd = await loadZstd();
    await moveBytes(transfers, { budget, decoding: async () => ({ workers, zstd }), write }, { signal });
  };
  const isRight = () => transfers.every(({ target }, index) => Buffer.compare(target, expected[index] ?? new Uint8Array()) === 0);
  return { system, restore, isRight, budget };
}

/** A storage whose files workers cannot open, and what its streams do, in order. */
function streamed() {
  const log: string[] = [];
  const asSeen = ({ name, read, list, stream }: ReadableStorage): ReadableStorage => ({
    name,
    read,
    list,
    async *stream(path, range, options) {
      log.push(`begin ${path}`);
      try {
        if (stream !== undefined) yield* stream(path, range, options);
      } finally {
        log.push(`end ${path}`);
      }
    },
  });
  return { log, asSeen };
}

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "no error").catch((error: unknown) => error);

describe("the files of a folder are dealt to workers", () => {
  const model = "7/model";
  const files = [fileIn(model, "a", 6), fileIn(model, "b", 20), fileIn(model, "c", 1), fileIn(model, "d", 12)];

  it("one job each, in which a file is opened once, and closed", async () => {
    const { system, restore, isRight, budget } = await madeFiles(files);
    const { pool, workers } = workersHere(2);
    // Both are there before the first has done all.
    for (const lease of await Promise.all([pool.acquire(), pool.acquire()])) lease?.release(true);
    await restore(pool);
    expect(isRight()).toBe(true);
    expect(workers.length).toBe(2);
    for (const { told, shares } of workers) {
      expect(told.filter(({ kind }) => kind === "decode").length).toBe(1);
      const opened = shares.flatMap(({ file, path }) => (file === undefined ? [] : [path]));
      expect(new Set(opened).size).toBe(opened.length);
    }
    const opened = system.calls.filter((call) => call.startsWith("createSyncAccessHandle"));
    const given = workers.flatMap(({ shares }) => shares.filter(({ file }) => file !== undefined));
    expect(opened.length).toBe(given.length);
    expect(system.open).toEqual([]);
    expect(budget.used).toBe(0);
    expect([pool.started, pool.ended]).toEqual([2, 0]);
    pool.close();
  });

  it("or streamed to them, where handles cannot be sent, as in Safari", async () => {
    vi.stubGlobal("structuredClone", () => {
      throw new DOMException("The object can not be cloned.", "DataCloneError");
    });
    const { system, restore, isRight } = await madeFiles(files);
    const { pool, workers } = workersHere(1);
    await restore(pool);
    expect(isRight()).toBe(true);
    expect(workers[0]?.told.some(({ kind }) => kind === "bytes")).toBe(true);
    expect(system.calls.filter((call) => call.startsWith("createSyncAccessHandle"))).toEqual([]);
    pool.close();
  });

  it("and damage in the second one names that file, from the root on, closes it, and ends the worker", async () => {
    const { system, restore, budget } = await madeFiles(files);
    const { pool, workers } = workersHere(1);
    const [first, second = ""] = await orderOf(files);
    const damaged = system.files.get(second);
    damaged?.bytes.fill(0xff, 0, 4);
    expect(await failureOf(restore(pool))).toMatchObject({ name: "CorruptCheckpointError", path: second, offset: 0 });
    expect(new Set(workers[0]?.shares.map(({ path }) => path))).toEqual(new Set([first, second]));
    expect(system.open).toEqual([]);
    expect(budget.used).toBe(0);
    expect([pool.started, pool.ended]).toEqual([1, 1]);
    pool.close();
  });

  it.each([
    ["changed", (system: FakeFileSystem, path: string) => void system.files.set(path, { bytes: new Uint8Array(9), lastModified: 2 })],
    ["went", (system: FakeFileSystem, path: string) => void system.files.delete(path)],
  ])("and one that %s before a worker opened it is named from the root on", async (_, change) => {
    const { system, restore, budget } = await madeFiles(files);
    const [, second = ""] = await orderOf(files);
    const { pool, workers } = workersHere(1, ({ kind }) => kind === "decode" && change(system, second));
    expect(await failureOf(restore(pool))).toMatchObject({ name: "StorageError", reason: "changed", path: second });
    expect(workers[0]?.shares.length).toBeGreaterThan(1);
    expect(system.open).toEqual([]);
    expect(budget.used).toBe(0);
    pool.close();
  });

  it("or decoded on the calling thread, where no worker can be started", async () => {
    const { restore, isRight, system, budget } = await madeFiles(files);
    const createWorker = () => {
      throw new Error("no workers here");
    };
    await restore(new WorkerPool({ createWorker, size: 2, idleMs: 1 }));
    expect(isRight()).toBe(true);
    expect(budget.used).toBe(0);
    const damaged = system.files.get(`${model}/d/a`);
    damaged?.bytes.fill(0xff, 0, 4);
    const failure = await failureOf(restore(new WorkerPool({ createWorker, size: 2, idleMs: 1 })));
    expect(failure).toMatchObject({ name: "CorruptCheckpointError", path: `${model}/d/a`, offset: 0 });
    await expect.poll(() => budget.used).toBe(0);
  });

  it("until an abort, which ends them, and the next restore gets others", async () => {
    const { restore, isRight, budget } = await madeFiles(files);
    const controller = new AbortController();
    const { pool } = workersHere(2, ({ kind }) => kind === "returned" && controller.abort(new Error("enough")));
    expect(await failureOf(restore(pool, controller.signal))).toMatchObject({ message: "enough" });
    await expect.poll(() => budget.used).toBe(0);
    expect(pool.ended).toBeGreaterThan(0);
    await restore(pool);
    expect(isRight()).toBe(true);
    expect(pool.started).toBeGreaterThan(2);
    pool.close();
  });
});

describe("the files of two folders", () => {
  const files = [fileIn("7/model", "a", 8), fileIn("7/optimizer", "a", 8), fileIn("7/optimizer", "b", 3)];

  it("come right in one restore", async () => {
    const { restore, isRight, system } = await madeFiles(files);
    const { pool } = workersHere(2);
    await restore(pool);
    expect(isRight()).toBe(true);
    expect(system.open).toEqual([]);
    pool.close();
  });

  it.each(files)("are told apart where one is damaged: $folder/$path", async ({ folder, path }) => {
    const damage = { name: "CorruptCheckpointError", path: `${folder}/${path}`, offset: 0 };
    const { restore, system } = await madeFiles(files);
    system.files.get(`${folder}/${path}`)?.bytes.fill(0xff, 0, 4);
    for (const size of [1, 2]) {
      const { pool } = workersHere(size);
      expect(await failureOf(restore(pool))).toMatchObject(damage);
      pool.close();
    }
    expect(await failureOf(restore(undefined))).toMatchObject(damage);
    const inIndex = await madeFiles(files, { isInline: true });
    inIndex.system.files.get(`${folder}/${path}`)?.bytes.fill(0xff, 0, 4);
    expect(await failureOf(inIndex.restore(undefined))).toMatchObject(damage);
  });
});

/** The files' paths from the root, in the order in which one worker reads them. */
async function orderOf(files: readonly DataFile[]): Promise<string[]> {
  const { restore } = await madeFiles(files);
  const { pool, workers } = workersHere(1);
  await restore(pool);
  pool.close();
  return [...new Set(workers[0]?.shares.map(({ path }) => path))];
}

describe("runs of files that come as streams are dealt to workers", () => {
  const model = "7/model";
  const names = ["a", "b", "c", "d"];
  const files = names.map((name) => fileIn(model, name, 5));
  const paths = names.map((name) => `${model}/d/${name}`);

  it("one job each at a time, of which the next is asked for before the one before has come", async () => {
    const { log, asSeen } = streamed();
    const { restore, isRight, budget } = await madeFiles(files, { asSeen });
    const { pool, workers } = workersHere(1);
    await restore(pool);
    expect(isRight()).toBe(true);
    const [a, b, c, d] = paths;
    expect(log).toEqual([`begin ${a}`, `begin ${b}`, `end ${a}`, `begin ${c}`, `end ${b}`, `begin ${d}`, `end ${c}`, `end ${d}`]);
    expect(workers[0]?.told.filter(({ kind }) => kind === "decode").length).toBe(4);
    expect(budget.used).toBe(0);
    expect([pool.started, pool.ended]).toEqual([1, 0]);
    pool.close();
  });

  it("and a worker that another restore waits for is given up after its run", async () => {
    const { log, asSeen } = streamed();
    const { restore, isRight } = await madeFiles(files, { asSeen });
    let begunBefore: number | undefined;
    let other: Promise<void> | undefined;
    const { pool } = workersHere(1, ({ kind }) => {
      if (kind !== "decode") return;
      other ??= pool.acquire().then((lease) => {
        begunBefore = log.filter((line) => line.startsWith("begin")).length;
        lease?.release(true);
      });
    });
    await restore(pool);
    await other;
    expect(isRight()).toBe(true);
    expect(begunBefore).toBe(1);
    pool.close();
  });

  it("and damage in one ends its worker and all streams, and names the file from the root on", async () => {
    const { log, asSeen } = streamed();
    const { system, restore, budget } = await madeFiles(files, { asSeen });
    system.files.get(`${model}/d/b`)?.bytes.fill(0xff, 0, 4);
    const { pool } = workersHere(1);
    expect(await failureOf(restore(pool))).toMatchObject({ name: "CorruptCheckpointError", path: `${model}/d/b`, offset: 0 });
    await expect.poll(() => log.filter((line) => line.startsWith("end")).length).toBe(log.length / 2);
    expect(budget.used).toBe(0);
    expect([pool.started, pool.ended]).toEqual([1, 1]);
    pool.close();
  });

  it("or decoded on the calling thread, where no worker can be started", async () => {
    const { log, asSeen } = streamed();
    const { restore, isRight } = await madeFiles(files, { asSeen });
    const createWorker = () => {
      throw new Error("no workers here");
    };
    await restore(new WorkerPool({ createWorker, size: 2, idleMs: 1 }));
    expect(isRight()).toBe(true);
    expect(log.length).toBe(2 * files.length);
  });
});
