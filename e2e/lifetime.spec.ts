import { join } from "node:path";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// What a restore leaves behind on a real device when it ends early, and what it reports while it runs.

let server: RunningServer;

test.beforeAll(async () => {
  server = await startServer({ root: join(import.meta.dirname, "fixtures", "data") });
});
test.afterAll(() => server.close());

const store = (fixture: string) => `${server.url.replace(/\/$/, "")}/${fixture}/checkpoints`;

test("an abort at any point rejects with its reason and leaves no buffer", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { httpStorage, OrbaxCheckpointStore } = window.orbax;
    const { countBuffers, testDevice } = window.internals;
    const device = await testDevice();
    const buffers = countBuffers(device);
    const restoreUntil = async (requests: number, events: number) => {
      const stop = new AbortController();
      const reason = new Error(`stopped at ${requests} requests, ${events} events`);
      let asked = 0;
      let heard = 0;
      const counting: typeof fetch = (input, init) => {
        if (++asked === requests) stop.abort(reason);
        return fetch(input, init);
      };
      const storage = httpStorage(url, { fetch: counting });
      const outcome = await new OrbaxCheckpointStore(storage, { device })
        .restore(1, {
          signal: stop.signal,
          onProgress: () => {
            if (++heard === events) stop.abort(reason);
          },
        })
        .then(
          (checkpoint) => {
            checkpoint.destroy();
            return "restored";
          },
          (error: unknown) => (error === reason ? "stopped" : String(error)),
        );
      return { outcome, expected: stop.signal.aborted ? "stopped" : "restored", asked, heard, alive: buffers().alive };
    };
    const whole = await restoreUntil(-1, -1);
    const points = (count: number) => Array.from(new Set([1, 2, 3, Math.ceil(count / 2), count - 1, count]));
    const cut = [
      ...(await Promise.all(points(whole.asked).map((requests) => restoreUntil(requests, -1)))),
      ...(await Promise.all(points(whole.heard).map((events) => restoreUntil(-1, events)))),
    ];
    const already = await new OrbaxCheckpointStore(url, { device })
      .restore(1, { signal: AbortSignal.abort() })
      .catch((error: Error) => error.name);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { whole, cut, alive: buffers().alive, made: buffers().made, already };
  }, store("sharded"));
  expect(found.whole).toMatchObject({ outcome: "restored", alive: 0 });
  // How many requests and events there are depends on when answers come, so that the last ones may not be met.
  for (const { outcome, expected } of found.cut) expect(outcome).toBe(expected);
  expect(found.cut.filter(({ outcome }) => outcome === "stopped").length).toBeGreaterThanOrEqual(8);
  expect(found.made).toBeGreaterThan(10);
  expect(found.alive).toBe(0);
  expect(found.already).toBe("AbortError");
});

test("a device that is lost in the middle is a DeviceError, and nothing hangs", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { isCheckpointError, OrbaxCheckpointStore } = window.orbax;
    const { testDevice } = window.internals;
    const outcomes: unknown[] = [];
    for (const part of [0, 0.1, 0.5]) {
      const device = await testDevice();
      const restoring = new OrbaxCheckpointStore(url, { device }).restore(1, {
        onProgress: ({ loadedBytes, totalBytes }) => {
          if (loadedBytes >= part * totalBytes) device.destroy();
        },
      });
      outcomes.push(
        await restoring.then(
          () => "restored",
          (error: unknown) => (isCheckpointError(error, "Device") ? error.reason : String(error)),
        ),
      );
    }
    return outcomes;
  }, store("sharded"));
  expect(found).toEqual(["lost", "lost", "lost"]);
});

test("a device that runs out of memory, or refuses a buffer, is a DeviceError and leaves no buffer", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { isCheckpointError, OrbaxCheckpointStore } = window.orbax;
    const { countBuffers, testDevice } = window.internals;
    const outcomes: unknown[] = [];
    for (const kind of ["out-of-memory", "validation"] as const) {
      const device = await testDevice();
      const buffers = countBuffers(device);
      const failure = kind === "out-of-memory" ? new GPUOutOfMemoryError("no memory left") : new GPUValidationError("no such usage");
      const popErrorScope = device.popErrorScope.bind(device);
      const pushErrorScope = device.pushErrorScope.bind(device);
      const scopes: GPUErrorFilter[] = [];
      device.pushErrorScope = (filter) => {
        scopes.push(filter);
        pushErrorScope(filter);
      };
      // The third scope of the kind reports the error that a full or stricter device would.
      let asked = 0;
      device.popErrorScope = async () => {
        const filter = scopes.pop();
        const real = await popErrorScope();
        return filter === kind && ++asked === 3 ? failure : real;
      };
      const error = await new OrbaxCheckpointStore(url, { device }).restore(1).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      outcomes.push(
        isCheckpointError(error, "Device")
          ? { reason: error.reason, named: error.leaf !== "", alive: buffers().alive }
          : `${asked} scopes: ${error}`,
      );
    }
    return outcomes;
  }, store("thousand"));
  expect(found).toEqual([
    { reason: "out-of-memory", named: true, alive: 0 },
    { reason: "validation", named: true, alive: 0 },
  ]);
});

test("a device whose limits are too small is told so by name, before a buffer is made", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { isCheckpointError, OrbaxCheckpointStore } = window.orbax;
    const { countBuffers, testDevice } = window.internals;
    const device = await testDevice();
    const buffers = countBuffers(device);
    const small = new Proxy(device, {
      get: (target, name) => {
        if (name === "limits") return { maxBufferSize: 1024, maxStorageBufferBindingSize: 1024 };
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const error = await new OrbaxCheckpointStore(url, { device: small }).restore(1200).catch((reason: unknown) => reason);
    return isCheckpointError(error, "Device")
      ? { reason: error.reason, leaf: error.leaf, limit: error.limit, made: buffers().made }
      : String(error);
  }, store("digits"));
  expect(found).toEqual({ reason: "limit", leaf: "model/hidden1/kernel/value", limit: { name: "maxBufferSize", value: 1024 }, made: 0 });
});

test("progress never falls, its totals never change, and it ends with everything", async ({ page }) => {
  const events = await page.evaluate(async (url) => {
    const { OrbaxCheckpointStore } = window.orbax;
    const events: { phase: string; loadedBytes: number; totalBytes: number; leaves: number; totalLeaves: number }[] = [];
    const device = await window.internals.testDevice();
    const checkpoint = await new OrbaxCheckpointStore(url, { device }).restore(1, { onProgress: (event) => events.push(event) });
    checkpoint.destroy();
    return events;
  }, store("sharded"));
  const last = events.at(-1);
  expect(last).toMatchObject({ phase: "done", loadedBytes: last?.totalBytes, leaves: last?.totalLeaves });
  expect(last?.totalBytes).toBeGreaterThan(0);
  for (const [index, event] of events.entries()) {
    expect(event.totalBytes).toBe(last?.totalBytes);
    expect(event.totalLeaves).toBe(last?.totalLeaves);
    expect(event.loadedBytes).toBeGreaterThanOrEqual(events[index - 1]?.loadedBytes ?? 0);
    expect(event.leaves).toBeGreaterThanOrEqual(events[index - 1]?.leaves ?? 0);
  }
});

test("where there is no WebGPU everything restores into memory", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    Object.defineProperty(navigator, "gpu", { value: undefined });
    const checkpoint = await new window.orbax.OrbaxCheckpointStore(url).restore(1200);
    const leaf = checkpoint.leaf("model", "out/bias/value");
    return leaf !== null && typeof leaf === "object" && "data" in leaf && "dtype" in leaf ? leaf.data.length : leaf;
  }, store("digits"));
  expect(found).toBe(10);
});
