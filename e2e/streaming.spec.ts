import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { largeArray } from "./synthetic/largeArray.js";
import { stepFiles } from "./synthetic/stepFiles.js";

// Arrays larger than the budget, which reach the device while they are still being downloaded.

const mebibyte = 2 ** 20;
const arrayBytes = 24 * mebibyte;
/** Step 1 has the array in one frame, step 2 in chunks of 1 MiB. */
const chunkings = [arrayBytes, mebibyte];

let server: RunningServer;
let samples: { readonly indices: number[]; readonly words: number[] };

test.beforeAll(async () => {
  const array = await largeArray(arrayBytes, 7);
  const { indices, words } = array.samples();
  samples = { indices: [...indices], words: [...words] };
  const other = await largeArray(arrayBytes / 2, 8);
  const steps = chunkings.map((chunkBytes, index) =>
    stepFiles(index + 1, "model", [array.inChunksOf(chunkBytes), { ...other.inChunksOf(mebibyte), name: "other" }]),
  );
  server = await startServer({ root: new Map(steps.flatMap((files) => [...files])) });
});
test.afterAll(() => server.close());

test.beforeEach(() => {
  server.clearFaults();
  server.resetRequests();
});

for (const step of [1, 2]) {
  test(`step ${step}: an abort at any point stops requests, rejects with its reason and leaves no buffer`, async ({ page }) => {
    const outcomes = await page.evaluate(
      async ({ url, step }) => {
        const { OrbaxCheckpointStore } = window.orbax;
        const { countBuffers, testDevice } = window.internals;
        const device = await testDevice();
        const buffers = countBuffers(device);
        const store = new OrbaxCheckpointStore(url, { device, readConcurrentBytes: 4 * 2 ** 20 });
        const abortAfter = async (events: number, later: boolean) => {
          const controller = new AbortController();
          const reason = new Error(`event ${events}`);
          const stop = () => (later ? setTimeout(() => controller.abort(reason)) : controller.abort(reason));
          let heard = 0;
          const onProgress = () => {
            if (++heard === events) stop();
          };
          const outcome = await store.restore(step, { signal: controller.signal, onProgress }).then(
            (checkpoint) => {
              checkpoint.destroy();
              return controller.signal.aborted ? "not stopped" : "restored before";
            },
            (error: unknown) => (error === reason ? "its reason" : String(error)),
          );
          return `${outcome}, ${buffers().alive} buffers`;
        };
        const outcomes: string[] = [];
        for (let events = 1; events <= 60; events += 4) outcomes.push(await abortAfter(events, events % 8 === 1));
        return outcomes;
      },
      { url: server.url, step },
    );
    // How many events there are depends on how the bytes come.
    const stopped = outcomes.filter((outcome) => outcome !== "restored before, 0 buffers");
    expect(stopped.length).toBeGreaterThan(8);
    expect(new Set(stopped)).toEqual(new Set(["its reason, 0 buffers"]));
    // All requests end, and no more are made.
    const underWay = () => {
      server.resetRequests();
      return server.peakRequests;
    };
    await expect.poll(underWay).toBe(0);
    await page.waitForTimeout(100);
    expect(server.requests).toEqual([]);
  });

  test(`step ${step}: a device that is lost meanwhile ends everything at once`, async ({ page }) => {
    const outcomes = await page.evaluate(
      async ({ url, step }) => {
        const { OrbaxCheckpointStore } = window.orbax;
        const { countBuffers, failureOf, testDevice } = window.internals;
        const outcomes = [];
        for (const part of [0, 0.01, 0.2, 0.7]) {
          const device = await testDevice();
          const buffers = countBuffers(device);
          const onProgress = ({ loadedBytes, totalBytes }: { loadedBytes: number; totalBytes: number }) => {
            if (loadedBytes >= part * totalBytes) device.destroy();
          };
          const failure = await failureOf(
            new OrbaxCheckpointStore(url, { device, readConcurrentBytes: 4 * 2 ** 20 }).restore(step, { onProgress }),
          );
          outcomes.push({ name: failure?.name, reason: failure?.reason, alive: buffers().alive });
        }
        return outcomes;
      },
      { url: server.url, step },
    );
    expect(outcomes).toEqual(outcomes.map(() => ({ name: "DeviceError", reason: "lost", alive: 0 })));
    expect(server.requests.length).toBeLessThan(60);
  });

  test(`step ${step}: a connection that breaks again and again is taken up where it broke`, async ({ page }) => {
    server.addFault({ kind: "cut", afterBytes: 3_000_000, path: /\/d\//, times: 4 });
    const wrong = await page.evaluate(
      async ({ url, step, samples }) => {
        const { OrbaxCheckpointStore, shapeDtypeStruct } = window.orbax;
        const { gatherWords, testDevice } = window.internals;
        const device = await testDevice();
        const w = shapeDtypeStruct([6 * 2 ** 20], "float32", { device });
        const store = new OrbaxCheckpointStore(url, { readConcurrentBytes: 4 * 2 ** 20 });
        const { items } = await store.restore(step, { templates: { model: { w, other: null } } });
        const found = await gatherWords(device, items.model.w.buffer, Uint32Array.from(samples.indices));
        return found.filter((word, at) => word !== samples.words[at]).length;
      },
      { url: server.url, step, samples },
    );
    expect(wrong).toBe(0);
    expect(server.requests.filter(({ aborted }) => aborted).length).toBeGreaterThan(1);
  });
}

test("what two devices and the reader hold together stays within the budget", async ({ page }) => {
  const { peaks, progress } = await page.evaluate(async (url) => {
    const { OrbaxCheckpointStore, shapeDtypeStruct } = window.orbax;
    const { budgetPeaks, testDevice } = window.internals;
    const [first, second] = [await testDevice(), await testDevice()];
    const model = {
      w: shapeDtypeStruct([6 * 2 ** 20], "float32", { device: first }),
      other: shapeDtypeStruct([3 * 2 ** 20], "float32", { device: second }),
    };
    const peaks = budgetPeaks(window.orbax);
    const progress: number[] = [];
    const onProgress = ({ loadedBytes }: { loadedBytes: number }) => progress.push(loadedBytes);
    const options = { templates: { model }, readConcurrentBytes: 8 * 2 ** 20, onProgress };
    const checkpoint = await new OrbaxCheckpointStore(url).restore(2, options);
    checkpoint.destroy();
    return { peaks: peaks(), progress };
  }, server.url);
  const together = peaks.reduce((sum, peak) => sum + peak, 0);
  expect(together).toBeGreaterThan(4 * mebibyte);
  expect(together).toBeLessThanOrEqual(8 * mebibyte + 6); // the limiter of requests counts to 6
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.length).toBeGreaterThan(36);
  expect(progress.at(-1)).toBe(1.5 * arrayBytes);
});
