import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../e2e/server/server.mjs";
import { FakeDevice, type FakeDeviceOptions } from "../gpu/fakeDevice.testing.js";
import { indirect, ownFiles } from "../ocdbt/handmade.testing.js";
import { httpStorage } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage, ReadOptions } from "../storage/storage.js";
import type { ProgressEvent } from "../tasks/context.js";
import { type Files, filesOfStep } from "./fixtureSteps.testing.js";
import { handmadeStep } from "./handmadeStep.testing.js";
import type { RestoreOptions } from "./restore/restoreOptions.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";

// How a restore runs: the bytes in flight, the events on the way, and how it stops.

const MiB = 2 ** 20;

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => {
  process.on("unhandledRejection", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const pause = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A storage that tells of each read before it begins. */
const watched = (files: Files, onRead: (path: string, options: ReadOptions) => Promise<void> | void): ReadableStorage => {
  const storage = memoryStorage(files);
  return {
    list: (prefix, options) => storage.list(prefix, options),
    async read(path, options = {}) {
      await onRead(path, options);
      return storage.read(path, options);
    },
  };
};

describe("bytes in flight", () => {
  /** 64 arrays of one chunk without compression, each in a file of its own. */
  function manyArrays(byteLength: number): Files {
    const names = Array.from({ length: 64 }, (_, index) => `w${String(index).padStart(2, "0")}`);
    const zarray = { shape: [byteLength], chunks: [byteLength], dtype: "|u1" };
    const chunks = (index: number) => ({ 0: indirect(0n, BigInt(byteLength), index) });
    return handmadeStep(Object.fromEntries(names.map((name, index) => [name, { zarray, chunks: chunks(index) }])), {
      table: ownFiles(...names.map((name) => `d/${name}`)),
      files: Object.fromEntries(names.map((name) => [`1/model/d/${name}`, new Uint8Array(byteLength).fill(7)])),
    });
  }

  it.each([
    [1, 16 * 1024],
    [1, MiB],
    [1, 3 * MiB],
    [8, 16 * 1024],
    [8, MiB],
  ])("stay within %i MiB with 64 arrays of %i bytes, while every read waits", async (budget, byteLength) => {
    const waiting: { readonly bytes: number; readonly go: () => void }[] = [];
    let most = 0;
    let mostAtOnce = 0;
    const storage = watched(manyArrays(byteLength), (_, { range }) => {
      if (range === undefined || range.length < 1024) return;
      return new Promise((go) => waiting.push({ bytes: range.length, go }));
    });
    let isDone = false;
    const store = new OrbaxCheckpointStore(storage, { readConcurrentBytes: budget * MiB });
    const restore = store.restore(1).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await pause(0);
      most = Math.max(
        most,
        waiting.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      mostAtOnce = Math.max(mostAtOnce, waiting.length);
      waiting.shift()?.go();
    }
    const { items } = await restore;
    expect(Object.keys(items.model as object)).toHaveLength(64);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(budget * MiB);
    if (budget > 1) expect(mostAtOnce).toBeGreaterThan(1);
  });

  it.each([1, MiB / 2, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("are refused to be %d", async (readConcurrentBytes) => {
    const files = filesOfStep("bare", 1);
    expect(() => new OrbaxCheckpointStore(memoryStorage(files), { readConcurrentBytes })).toThrow(/an integer from 1048576, in bytes/);
    await expect(new OrbaxCheckpointStore(memoryStorage(files)).restore(1, { readConcurrentBytes })).rejects.toThrow(
      /an integer from 1048576, in bytes/,
    );
  });
});

describe("progress", () => {
  const ways: readonly (readonly [string, () => RestoreOptions])[] = [
    ["into memory", () => ({})],
    ["onto a device", () => ({ device: new FakeDevice().gpu, enableX64: true })],
    ["onto a device, narrowed", () => ({ device: new FakeDevice().gpu, castDtypes: true })],
    ["in little memory", () => ({ readConcurrentBytes: MiB })],
  ];
  const steps = [
    ["digits", 1200],
    ["thousand", 1],
    ["sharded", 1],
    ["bare", 1],
    ["x64", 1],
    ["metrics", 1],
    ["zero-size", 1],
  ] as const;

  it.each(steps.flatMap(([fixture, step]) => ways.map(([way, options]) => [fixture, step, way, options] as const)))(
    "of %s step %i %s never falls, its totals never change, and it ends with all",
    async (fixture, step, _, options) => {
      const events: ProgressEvent[] = [];
      const store = new OrbaxCheckpointStore(memoryStorage(filesOfStep(fixture, step)));
      const checkpoint = await store.restore(step, { ...options(), onProgress: (event) => events.push(event) });
      checkpoint.destroy();
      const [first] = events;
      const last = events.at(-1);
      expect(first).toMatchObject({ phase: "index", loadedBytes: 0, leaves: 0 });
      expect(last).toMatchObject({ phase: "done", loadedBytes: first?.totalBytes, leaves: first?.totalLeaves });
      for (const [index, { loadedBytes, totalBytes, leaves, totalLeaves }] of events.entries()) {
        const before = events[index - 1];
        expect([totalBytes, totalLeaves]).toEqual([first?.totalBytes, first?.totalLeaves]);
        expect(loadedBytes).toBeGreaterThanOrEqual(before?.loadedBytes ?? 0);
        expect(leaves).toBeGreaterThanOrEqual(before?.leaves ?? 0);
        expect(loadedBytes).toBeLessThanOrEqual(totalBytes);
      }
    },
  );

  it("that throws ends the restore with what it threw, and leaves no buffer", async () => {
    for (const failing of [1, 2, 10, 27]) {
      const device = new FakeDevice();
      const failure = new Error("no more");
      let count = 0;
      const onProgress = () => {
        count += 1;
        if (count === failing) throw failure;
      };
      const store = new OrbaxCheckpointStore(memoryStorage(filesOfStep("digits", 1200)));
      await expect(store.restore(1200, { device: device.gpu, onProgress })).rejects.toBe(failure);
      expect(device.alive).toEqual([]);
    }
  });
});

describe("abort", () => {
  const files = filesOfStep("digits", 1200);

  /** Restores, aborts at the `turn`-th thing that happens, and checks that nothing goes on; false where it ended before. */
  async function abortAt(
    turn: number,
    what: "read" | "event",
    place: "memory" | "device",
    reads: "answered" | "hanging",
  ): Promise<boolean> {
    const controller = new AbortController();
    const reason = new Error(`enough at ${what} ${turn}`);
    const device = new FakeDevice();
    const count = { read: 0, event: 0 };
    const happened = (kind: "read" | "event") => {
      count[kind] += 1;
      if (kind === what && count[kind] === turn) controller.abort(reason);
    };
    const storage = watched(files, () => {
      happened("read");
      return reads === "hanging" && controller.signal.aborted ? new Promise(() => {}) : undefined;
    });
    const store = new OrbaxCheckpointStore(storage, { readConcurrentBytes: MiB });
    const options = place === "device" ? { device: device.gpu } : {};
    const outcome = await store.restore(1200, { ...options, signal: controller.signal, onProgress: () => happened("event") }).then(
      (checkpoint) => checkpoint.destroy(),
      (error: unknown) => error,
    );
    if (!controller.signal.aborted) return false;
    expect(outcome).toBe(reason);
    expect(device.alive).toEqual([]);
    const before = { ...count };
    const { submits } = device;
    await pause();
    expect(count).toEqual(before);
    expect(device.submits).toBe(submits);
    expect(device.alive).toEqual([]);
    expect(device.openScopes).toBe(0);
    return true;
  }

  it.each([
    ["read", "memory", "answered"],
    ["read", "device", "answered"],
    ["read", "device", "hanging"],
    ["event", "memory", "answered"],
    ["event", "device", "answered"],
  ] as const)("at each %s, into %s, with reads %s, rejects with its reason, and nothing goes on", async (what, place, reads) => {
    let turn = 1;
    while (await abortAt(turn, what, place, reads)) turn += what === "event" && turn > 12 ? 7 : 1;
    expect(turn).toBeGreaterThan(what === "read" ? 20 : 30);
  });

  it("before the start reads nothing", async () => {
    let count = 0;
    const storage = watched(files, () => {
      count += 1;
    });
    const store = new OrbaxCheckpointStore(storage);
    const reason = new Error("never");
    const signal = AbortSignal.abort(reason);
    for (const call of [
      () => store.restore(1200, { signal }),
      () => store.open(1200, { signal }),
      () => store.readMetadata(1200, { signal }),
    ]) {
      await expect(call()).rejects.toBe(reason);
    }
    await expect(store.listSteps({ signal })).rejects.toBe(reason);
    expect(count).toBe(0);
  });

  it("between open and restore, too", async () => {
    const opened = await new OrbaxCheckpointStore(memoryStorage(files)).open(1200);
    const device = new FakeDevice();
    await expect(opened.restore({ device: device.gpu, signal: AbortSignal.abort(new Error("late")) })).rejects.toThrow("late");
    expect(device.buffers).toEqual([]);
  });

  it("by a timer is heard in the middle of long work in memory", async () => {
    const elements = 2 ** 18;
    const metadata = { shape: [elements], chunks: [1], fill_value: 0 };
    const long = handmadeStep({ w: { zarray: metadata, chunks: {} } });
    const tree = new TextDecoder().decode(long.get("1/model/_METADATA")).replace('"store_array_data_equal_to_fill_value":true', '"x":1');
    const store = new OrbaxCheckpointStore(memoryStorage(long.set("1/model/_METADATA", new TextEncoder().encode(tree))));
    await expect(store.restore(1, { signal: AbortSignal.timeout(1) })).rejects.toThrow(/timeout/i);
  });

  it("at each request to a server stops it, and no further one is made", async () => {
    const server = await startServer({ root: files });
    try {
      for (let turn = 1; ; turn++) {
        const controller = new AbortController();
        const reason = new Error(`enough at request ${turn}`);
        let count = 0;
        const counting = (url: string, init: RequestInit) => {
          count += 1;
          if (count === turn) controller.abort(reason);
          return fetch(url, init);
        };
        const device = new FakeDevice();
        const store = new OrbaxCheckpointStore(httpStorage(server.url, { fetch: counting }));
        const outcome = await store.restore(1200, { device: device.gpu, signal: controller.signal }).catch((error: unknown) => error);
        if (!controller.signal.aborted) break;
        expect(outcome).toBe(reason);
        const before = count;
        await pause();
        expect(count).toBe(before);
        expect(device.alive).toEqual([]);
      }
      expect(server.requests.length).toBeGreaterThan(100);
    } finally {
      await server.close();
    }
  });
});

describe("a failure", () => {
  const files = filesOfStep("digits", 1200);

  it.each([
    ["the record", "1200/metadata/metadata"],
    ["one item's tree", "1200/rng/_METADATA"],
    ["one item's manifest", "1200/optimizer/manifest.ocdbt"],
    ["one item's node", [...files.keys()].find((path) => path.startsWith("1200/model/d/")) ?? ""],
    ["a data file", [...files.keys()].find((path) => path.includes("ocdbt.process_0/d/6772")) ?? ""],
  ])("of %s stops all other reads", async (_, failing) => {
    let count = 0;
    const failure = new Error("gone");
    const storage = watched(files, async (path) => {
      count += 1;
      if (path === failing) throw failure;
      await pause(path.length % 3);
    });
    await expect(new OrbaxCheckpointStore(storage).restore(1200)).rejects.toBe(failure);
    await pause();
    const before = count;
    await pause(20);
    expect(count).toBe(before);
  });

  it.each([0, 1, 5, 18])("of the device at buffer %i leaves none", async (failing) => {
    const options: FakeDeviceOptions = { onCreate: (index) => (index === failing ? "out-of-memory" : undefined) };
    const device = new FakeDevice(options);
    const store = new OrbaxCheckpointStore(memoryStorage(files), { device: device.gpu });
    await expect(store.restore(1200)).rejects.toMatchObject({ name: "DeviceError", reason: "out-of-memory" });
    expect(device.alive).toEqual([]);
    expect(device.openScopes).toBe(0);
  });

  it("of one device of two leaves no buffer on either", async () => {
    const good = new FakeDevice();
    const bad = new FakeDevice({ onWrite: (index) => (index === 3 ? "out-of-memory" : undefined) });
    const store = new OrbaxCheckpointStore(memoryStorage(files));
    const array = (...shape: number[]) => ({ value: shapeDtypeStruct(shape, "float32", { device: bad.gpu }) });
    const model = {
      hidden1: { bias: array(128), kernel: array(64, 128) },
      hidden2: { bias: array(64), kernel: array(128, 64) },
      out: { bias: array(10), kernel: array(64, 10) },
    };
    await expect(store.restore(1200, { device: good.gpu, templates: { model } })).rejects.toMatchObject({ reason: "out-of-memory" });
    expect([...good.alive, ...bad.alive]).toEqual([]);
    expect(good.buffers.length).toBeGreaterThan(0);
    expect(bad.buffers.length).toBeGreaterThan(0);
  });

  it("by the loss of the device in the middle of it leaves none, and does not hang", async () => {
    for (const turn of [1, 4, 5, 8]) {
      const device = new FakeDevice({ hangs: true });
      let count = 0;
      const storage = watched(files, (path) => {
        if (path.includes("/d/")) count += 1;
        if (count === turn) device.lose();
      });
      const store = new OrbaxCheckpointStore(storage, { device: device.gpu });
      await expect(store.restore(1200)).rejects.toMatchObject({ name: "DeviceError", reason: "lost" });
      expect(device.alive).toEqual([]);
    }
  });
});
