import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeWorker } from "../../tasks/fakeWorker.testing.js";
import { WorkerPool } from "../../tasks/workerPool.js";
import { RemoteFiles } from "./remoteFiles.js";

interface Asked {
  readonly id: number;
  readonly file: number;
  readonly kind: string;
  readonly buffer?: ArrayBuffer;
}

/** Files in workers of which the test has hold; each does at once what it is asked, unless `answer` does something else. */
function remote(answer: (worker: FakeWorker, asked: Asked) => void = done) {
  const workers: FakeWorker[] = [];
  const createWorker = () => {
    const made = new FakeWorker();
    workers.push(made);
    made.postMessage = (message) => {
      const { place } = message as { readonly place?: { readonly refusal?: Error } };
      if (place?.refusal !== undefined) throw place.refusal;
      made.posted.push(message);
      queueMicrotask(() => answer(made, message as Asked));
    };
    queueMicrotask(() => made.say({ kind: "ready" }));
    return made.worker;
  };
  const files = new RemoteFiles(new WorkerPool({ createWorker, size: 1, idleMs: 1000 }));
  return { files, workers };
}

const done = (worker: FakeWorker, { id, buffer }: Asked) => worker.say({ kind: "done", id, buffer });

const handle = { name: "file" } as FileSystemFileHandle;
const unsendable = (refusal: Error) => ({ name: "file", refusal }) as unknown as FileSystemFileHandle;
const kinds = (worker: FakeWorker | undefined) => ((worker?.posted ?? []) as Asked[]).map(({ kind, file }) => `${kind} ${file}`);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("one worker fills many files, and ends when none is open for a while", async () => {
  const { files, workers } = remote();
  const [first, second] = await Promise.all([files.openSink(handle), files.openSink(handle)]);
  const buffer = new ArrayBuffer(8);
  expect(await first?.put(buffer, 5)).toBe(buffer);
  await second?.abandon();
  await first?.close();
  await first?.close();
  await first?.abandon();
  await vi.advanceTimersByTimeAsync(500);
  const third = await files.openSink(handle);
  expect(kinds(workers[0])).toEqual(["open 1", "open 2", "put 1", "abandon 2", "close 1", "open 3"]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(workers[0]?.terminated).toBe(false);
  await third?.close();
  await vi.advanceTimersByTimeAsync(1500);
  expect(workers).toHaveLength(1);
  expect(workers[0]?.terminated).toBe(true);
});

test("there is none where workers cannot be started, or have no such handles", async () => {
  const createWorker = () => {
    throw new Error("refused");
  };
  expect(await new RemoteFiles(new WorkerPool({ createWorker, size: 1, idleMs: 1 })).openSink(handle)).toBeUndefined();
  const { files, workers } = remote((worker, { id }) => worker.say({ kind: "failed", id, name: "NotSupportedError", message: "" }));
  expect(await files.openSink(handle)).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1500);
  expect(workers[0]?.terminated).toBe(true);
});

describe("where handles cannot be sent to workers, as in Safari", () => {
  const notCloned = new DOMException("The object can not be cloned.", "DataCloneError");
  const rootThat = (resolves: readonly string[] | null) =>
    vi.stubGlobal("navigator", { storage: { getDirectory: async () => ({ resolve: async () => resolves }) } });
  afterEach(() => vi.unstubAllGlobals());

  test("the worker is told the file's path", async () => {
    rootThat(["runs", "file"]);
    const { files, workers } = remote();
    const sink = await files.openSink(unsendable(notCloned));
    await sink?.close();
    expect(workers[0]?.posted).toMatchObject([{ kind: "open", place: ["runs", "file"] }, { kind: "close" }]);
  });

  test("and what is not in the origin's file system is left to others", async () => {
    rootThat(null);
    await expect(remote().files.openSink(unsendable(notCloned))).rejects.toBe(notCloned);
  });
});

describe("what fails", () => {
  test("has the browser's name, and the file can be given up", async () => {
    const { files, workers } = remote((worker, asked) =>
      asked.kind === "put"
        ? worker.say({ kind: "failed", id: asked.id, name: "QuotaExceededError", message: "full" })
        : done(worker, asked),
    );
    const sink = await files.openSink(handle);
    await expect(sink?.put(new ArrayBuffer(1), 1)).rejects.toMatchObject({ name: "QuotaExceededError", message: "full" });
    await sink?.abandon();
    await vi.advanceTimersByTimeAsync(1500);
    expect(workers[0]?.terminated).toBe(true);
  });

  test("as a file is opened leaves the worker to others", async () => {
    let refused = false;
    const { files, workers } = remote((worker, asked) => {
      if (refused) return done(worker, asked);
      refused = true;
      worker.say({ kind: "failed", id: asked.id, name: "InvalidStateError", message: "" });
    });
    await expect(files.openSink(handle)).rejects.toMatchObject({ name: "InvalidStateError" });
    await (await files.openSink(handle))?.close();
    await vi.advanceTimersByTimeAsync(1500);
    expect(workers.map(({ terminated }) => terminated)).toEqual([true]);
  });
});

test("a worker that ends takes its files with it, and the next ones get another", async () => {
  const { files, workers } = remote((worker, asked) => {
    if (asked.kind !== "put") done(worker, asked);
  });
  const [first, second] = await Promise.all([files.openSink(handle), files.openSink(handle)]);
  const putting = expect(first?.put(new ArrayBuffer(1), 1)).rejects.toMatchObject({ name: "StorageError", reason: "worker" });
  await vi.advanceTimersByTimeAsync(1);
  workers[0]?.fail("out of memory");
  await putting;
  await expect(second?.put(new ArrayBuffer(1), 1)).rejects.toMatchObject({ reason: "worker" });
  const third = await files.openSink(handle);
  await first?.abandon();
  await expect(second?.close()).rejects.toMatchObject({ reason: "worker" });
  await third?.close();
  expect(kinds(workers[1])).toEqual(["open 3", "close 3"]);
});
