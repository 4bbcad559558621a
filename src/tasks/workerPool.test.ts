import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isCheckpointError } from "../errors.js";
import { FakeWorker } from "./fakeWorker.testing.js";
import { type WorkerLease, WorkerPool } from "./workerPool.js";

const idleMs = 1000;
const startMs = 600;
const ready = { kind: "ready" };

/** A pool of fake workers; `load` lets the newest ones say that they are ready. */
function makePool({ size = 2, loads = true } = {}) {
  const workers: FakeWorker[] = [];
  const createWorker = () => {
    const fake = new FakeWorker();
    workers.push(fake);
    if (loads) queueMicrotask(() => fake.say(ready));
    return fake.worker;
  };
  const pool = new WorkerPool({ createWorker, size, idleMs, startMs });
  return { pool, workers, alive: () => workers.filter(({ terminated }) => !terminated) };
}

/** A lease that must come. */
async function lend(pool: WorkerPool, signal?: AbortSignal): Promise<WorkerLease> {
  const lease = await pool.acquire({ signal });
  if (lease === undefined) throw new Error("the pool has no workers");
  return lease;
}

/** The state of a promise, when everything that is due has happened. */
async function stateOf(promise: Promise<unknown>): Promise<"pending" | "resolved" | "rejected"> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return Promise.race([
    promise.then(
      () => "resolved" as const,
      () => "rejected" as const,
    ),
    Promise.resolve().then(() => Promise.resolve().then(() => "pending" as const)),
  ]);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("a pool of workers", () => {
  it("starts none before a job asks, one for one job after the other, and more only where jobs wait", async () => {
    const { pool } = makePool({ size: 3 });
    expect(pool.started).toBe(0);
    for (let job = 0; job < 5; job++) (await lend(pool)).release(true);
    expect(pool.started).toBe(1);
    const leases = await Promise.all([lend(pool), lend(pool)]);
    expect(pool.started).toBe(2);
    for (const lease of leases) lease.release(true);
    await Promise.all([lend(pool), lend(pool)]);
    expect(pool).toMatchObject({ started: 2, ended: 0 });
  });

  it("never has more than its size, and serves those who wait in the order they came", async () => {
    const { pool, workers } = makePool({ size: 2 });
    const served: number[] = [];
    const jobs = Array.from({ length: 7 }, async (_, job) => {
      const lease = await lend(pool);
      served.push(job);
      await vi.advanceTimersByTimeAsync(1);
      lease.release(true);
    });
    await Promise.all(jobs);
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(workers).toHaveLength(2);
  });

  it("starts workers ahead where asked, no more than its size, and lends them when their scripts have loaded", async () => {
    const { pool, workers } = makePool({ size: 2, loads: false });
    pool.warm(9);
    pool.warm(1);
    expect(workers).toHaveLength(2);
    const lease = pool.acquire();
    expect(await stateOf(lease)).toBe("pending");
    workers[1]?.say("not yet");
    expect(await stateOf(lease)).toBe("pending");
    workers[1]?.say(ready);
    (await lease)?.post("job");
    expect(workers.map(({ posted }) => posted)).toEqual([[], ["job"]]);
    expect(pool.started).toBe(2);
  });

  it("ends workers that were idle for a while, not those that work, and starts again", async () => {
    const { pool, alive } = makePool();
    const [first, second] = await Promise.all([lend(pool), lend(pool)]);
    first?.release(true);
    await vi.advanceTimersByTimeAsync(idleMs - 1);
    const third = await lend(pool);
    await vi.advanceTimersByTimeAsync(idleMs);
    expect(alive()).toHaveLength(2);
    for (const lease of [second, third]) lease?.release(true);
    await vi.advanceTimersByTimeAsync(idleMs);
    expect(alive()).toEqual([]);
    expect(pool).toMatchObject({ started: 2, ended: 2 });
    await lend(pool);
    expect(pool.started).toBe(3);
  });

  it("lends the worker that worked last, so that one job at a time keeps one worker", async () => {
    const { pool, alive } = makePool();
    for (const lease of await Promise.all([lend(pool), lend(pool)])) lease.release(true);
    for (let job = 0; job < 4; job++) {
      await vi.advanceTimersByTimeAsync(idleMs / 2);
      (await lend(pool)).release(true);
    }
    expect(alive()).toHaveLength(1);
  });

  it("ends all of them when it is closed, and has none from then on", async () => {
    const { pool, alive } = makePool({ size: 2 });
    const lease = await lend(pool);
    (await lend(pool)).release(true);
    pool.warm();
    const waiting = [lend(pool), pool.acquire(), pool.acquire()];
    await waiting[0];
    pool.close();
    await expect(lease.broken).rejects.toMatchObject({ name: "StorageError", reason: "worker" });
    expect(await Promise.all(waiting.slice(1))).toEqual([undefined, undefined]);
    expect(await pool.acquire()).toBeUndefined();
    pool.warm();
    pool.close();
    expect(alive()).toEqual([]);
    expect(pool.ended).toBe(pool.started);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a lent worker", () => {
  it("hears and says messages in order, of its own job only", async () => {
    const { pool, workers } = makePool({ size: 1 });
    const first = await lend(pool);
    const heard: unknown[] = [];
    first.onMessage((message) => heard.push(["first", message]));
    first.post("a");
    first.post("b");
    workers[0]?.say(1);
    workers[0]?.say(ready);
    first.release(true);
    workers[0]?.say("late");
    const second = await lend(pool);
    second.onMessage((message) => heard.push(["second", message]));
    first.post("after release");
    first.release(false);
    workers[0]?.say(2);
    expect(heard).toEqual([
      ["first", 1],
      ["first", ready],
      ["second", 2],
    ]);
    expect(workers[0]).toMatchObject({ posted: ["a", "b"], terminated: false });
  });

  it("is ended and replaced where its job did not come to its end", async () => {
    const { pool, workers, alive } = makePool({ size: 1 });
    const lease = await lend(pool);
    const heard = vi.fn();
    lease.onMessage(heard);
    const next = lend(pool);
    lease.release(false);
    workers[0]?.say("late");
    expect(workers[0]?.terminated).toBe(true);
    (await next).post("job");
    expect(workers[1]?.posted).toEqual(["job"]);
    expect(heard).not.toHaveBeenCalled();
    expect(pool).toMatchObject({ started: 2, ended: 1 });
    (await next).release(false);
    expect(alive()).toEqual([]);
    expect(pool).toMatchObject({ started: 2, ended: 2 });
  });

  it.each([
    ["throws", (worker: FakeWorker) => expect(worker.fail("out of memory")).toBe(true), "(out of memory)"],
    ["fails without a word", (worker: FakeWorker) => worker.fail(), "wrote; try again"],
    ["says what cannot be read", (worker: FakeWorker) => worker.garble(), "could not be read"],
  ])("rejects its job when it %s, and others go on with a new one", async (_, breakIt, detail) => {
    const { pool, workers } = makePool({ size: 1 });
    const lease = await lend(pool);
    const next = lend(pool);
    for (const worker of workers.slice()) breakIt(worker);
    const error = await lease.broken.catch((cause: unknown) => cause);
    expect(isCheckpointError(error, "Storage") && error.reason).toBe("worker");
    expect(String(error)).toContain(detail);
    lease.post("into nothing");
    lease.release(true);
    (await next).post("job");
    expect(workers.map(({ posted, terminated }) => ({ posted, terminated }))).toEqual([
      { posted: [], terminated: true },
      { posted: ["job"], terminated: false },
    ]);
  });

  it("may break while idle: the next job gets a new one", async () => {
    const { pool, workers } = makePool({ size: 1 });
    (await lend(pool)).release(true);
    workers[0]?.fail();
    expect(pool).toMatchObject({ started: 1, ended: 1 });
    await lend(pool);
    expect(pool.started).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is no unheard failure where nobody listens", async () => {
    const unheard = vi.fn();
    process.on("unhandledRejection", unheard);
    const { pool, workers } = makePool({ size: 1 });
    await lend(pool);
    workers[0]?.fail();
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", unheard);
    expect(unheard).not.toHaveBeenCalled();
  });
});

describe("where workers cannot be started", () => {
  it("says so at once when making one throws, and does not try again", async () => {
    const createWorker = vi.fn(() => {
      throw new DOMException("no workers here", "SecurityError");
    });
    const pool = new WorkerPool({ createWorker, size: 4, idleMs, startMs });
    expect(await Promise.all([pool.acquire(), pool.acquire()])).toEqual([undefined, undefined]);
    pool.warm();
    expect(await pool.acquire()).toBeUndefined();
    expect(createWorker).toHaveBeenCalledOnce();
    expect(pool).toMatchObject({ started: 0, ended: 0 });
  });

  it.each([
    ["an error", (worker: FakeWorker) => void worker.fail("blocked")],
    ["a message that cannot be read", (worker: FakeWorker) => worker.garble()],
  ])("says so to all who wait when the script ends in %s before it is ready", async (_, breakIt) => {
    const { pool, workers } = makePool({ size: 2, loads: false });
    const waiting = [pool.acquire(), pool.acquire(), pool.acquire()];
    expect(workers).toHaveLength(2);
    for (const worker of workers) breakIt(worker);
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(await pool.acquire()).toBeUndefined();
    expect(pool).toMatchObject({ started: 2, ended: 2 });
  });

  it("says so to all who wait when no script is ready in time, and ends the workers", async () => {
    const { pool, alive } = makePool({ size: 2, loads: false });
    const waiting = [pool.acquire(), pool.acquire(), pool.acquire()];
    await vi.advanceTimersByTimeAsync(startMs - 1);
    expect(alive()).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(alive()).toEqual([]);
    expect(await pool.acquire()).toBeUndefined();
    expect(pool).toMatchObject({ started: 2, ended: 2 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("hears a script that was ready in time although this thread was too busy to listen", async () => {
    const { pool, workers } = makePool({ size: 1, loads: false });
    const waiting = lend(pool);
    // A timer that is due runs before the message, whatever its age; the second half begins only then.
    vi.advanceTimersByTime(startMs / 2);
    workers[0]?.say(ready);
    vi.advanceTimersByTime(startMs / 2);
    (await waiting).post("job");
    expect(workers[0]).toMatchObject({ posted: ["job"], terminated: false });
  });

  it("goes on with those that were started before", async () => {
    const { pool, workers } = makePool({ size: 2, loads: false });
    const jobs = [lend(pool), lend(pool)];
    workers[0]?.say(ready);
    workers[1]?.fail("offline");
    const first = await jobs[0];
    expect(await stateOf(Promise.resolve(jobs[1]))).toBe("pending");
    first?.release(true);
    (await jobs[1])?.release(true);
    expect(pool).toMatchObject({ started: 2, ended: 1 });
    await vi.advanceTimersByTimeAsync(idleMs);
    expect(await pool.acquire()).toBeUndefined();
  });
});

describe("an abort", () => {
  it("takes the one who waits out of the queue, and nobody else", async () => {
    const { pool } = makePool({ size: 1 });
    const first = await lend(pool);
    const controller = new AbortController();
    const waiting = [lend(pool, controller.signal), lend(pool)];
    controller.abort(new Error("enough"));
    await expect(waiting[0]).rejects.toThrow("enough");
    first.release(true);
    (await waiting[1])?.release(true);
    expect(pool.started).toBe(1);
  });

  it("before the start starts nothing, and later leaves the worker for others", async () => {
    const { pool, workers } = makePool({ size: 1, loads: false });
    await expect(pool.acquire({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
    expect(pool.started).toBe(0);
    const controller = new AbortController();
    const waiting = pool.acquire(controller);
    controller.abort(new Error("later"));
    await expect(waiting).rejects.toThrow("later");
    workers[0]?.say(ready);
    await lend(pool);
    expect(pool).toMatchObject({ started: 1, ended: 0 });
  });
});
