import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Page } from "playwright/test";
import { expect, test } from "./page/test.js";
import { type RunningServer, type ServedFile, startServer } from "./server/server.mjs";
import { type DtypeCase, dtypeCases } from "./synthetic/dtypeStep.js";
import { largeArray } from "./synthetic/largeArray.js";
import { type MadeArray, stepFiles } from "./synthetic/stepFiles.js";
import { structuredArray } from "./synthetic/structuredArray.js";

// Restores by workers: how many there are and when they end, what they are told, and what happens where there are none or they die.

const mebibyte = 2 ** 20;

/** Steps by what is special about them. */
const steps = { chunks: 1, frame: 2, structured: 3, dtypes: 4, longFrame: 5, longChunks: 6 } as const;

let server: RunningServer;
let files: ReadonlyMap<string, Uint8Array | ServedFile>;
let hashes: Readonly<Record<number, Readonly<Record<string, string>>>>;
/** What becomes of the arrays of `dtypes`, by name. */
let wanted: Record<string, { shape: readonly number[]; dtype: DtypeCase["to"] }>;
/** Stored bytes of each step's chunks. */
let storedBytes: Readonly<Record<number, number>>;
/** Where a block in the middle of `frame` begins, in bytes of the data file. */
let middleBlock: number;

test.beforeAll(async () => {
  const [weights, long] = [await largeArray(32 * mebibyte, 1), await largeArray(96 * mebibyte, 2)];
  const structured = await structuredArray(24 * mebibyte, 3);
  const cases = await dtypeCases();
  const made: Record<number, readonly MadeArray[]> = {
    [steps.chunks]: [weights.inChunksOf(4 * mebibyte)],
    [steps.frame]: [weights.inChunksOf(32 * mebibyte)],
    [steps.structured]: [structured.array],
    [steps.dtypes]: cases.map(({ array }) => array),
    [steps.longFrame]: [long.inChunksOf(96 * mebibyte)],
    [steps.longChunks]: [long.inChunksOf(4 * mebibyte)],
  };
  const [hashOfWeights, hashOfLong] = [weights, long].map((array) => ({ w: hashOf(array.contents()) })) as [{ w: string }, { w: string }];
  hashes = {
    [steps.chunks]: hashOfWeights,
    [steps.frame]: hashOfWeights,
    [steps.structured]: { w: hashOf([structured.bytes]) },
    [steps.dtypes]: Object.fromEntries(cases.map(({ array, expected }) => [array.name, hashOf([expected])])),
    [steps.longFrame]: hashOfLong,
    [steps.longChunks]: hashOfLong,
  };
  wanted = Object.fromEntries(cases.map(({ array: { name, shape }, to }) => [name, { shape, dtype: to }]));
  storedBytes = Object.fromEntries(
    Object.entries(made).map(([step, arrays]) => [step, lengthOf(arrays.flatMap(({ chunks }) => chunks.flat()))]),
  );
  const frame = made[steps.frame]?.[0]?.chunks[0] ?? [];
  middleBlock = lengthOf(frame.slice(0, frame.length / 2));
  files = new Map(Object.entries(made).flatMap(([step, arrays]) => [...stepFiles(Number(step), "model", arrays)]));
  server = await startServer({
    root: new Map(files),
    mounts: { "/fixtures/": join(import.meta.dirname, "fixtures", "data") },
  });
});
test.afterAll(() => server.close());

const lengthOf = (pieces: readonly Uint8Array[]) => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);

function hashOf(pieces: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** The most workers that a page uses whose machine has so many cores. */
const workersOf = (cores: number) => Math.min(cores, 4);

for (const cores of [1, 2, 8]) {
  test(`${cores} cores get ${workersOf(cores)} workers, which ${cores === 2 ? "end when idle" : "all restores share"}`, async ({
    page,
  }) => {
    const found = await page.evaluate(
      async ({ url, cores, step }) => {
        Object.defineProperty(navigator, "hardwareConcurrency", { value: cores });
        const { restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers({ stay: cores !== 2 });
        const device = await testDevice();
        const restore = () => restoredHashes(url, step, device);
        const together = await Promise.all([restore(), restore()]);
        const first = watched.counts;
        const again = await restore();
        const second = watched.counts;
        if (cores === 2) await watched.allEnded();
        return { hashes: [...together, again], first, second, last: watched.counts };
      },
      { url: server.url, cores, step: steps.chunks },
    );
    expect(found.hashes).toEqual(Array(3).fill(hashes[steps.chunks]));
    expect(found.second.told.decode).toBeGreaterThan(found.first.told.decode ?? 0);
    if (cores === 2) return expect(found.last.alive).toBe(0);
    expect(found.first).toMatchObject({ started: workersOf(cores), alive: workersOf(cores) });
    expect(found.second.started).toBe(workersOf(cores));
  });
}

test("a small step starts no worker", async ({ page }) => {
  const started = await page.evaluate(async (url) => {
    const watched = window.internals.watchWorkers();
    const device = await window.internals.testDevice();
    const checkpoint = await new window.orbax.OrbaxCheckpointStore(url, { device }).restore(1200);
    checkpoint.destroy();
    return watched.counts.started;
  }, `${server.url}/fixtures/digits/checkpoints`);
  expect(started).toBe(0);
});

const policy = (text: string) => ({ headers: { "content-security-policy": text } });

for (const [title, options, expected] of [
  ["that forbids workers", policy("script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'"), { onWorkers: false }],
  ["that forbids WebAssembly", policy("script-src 'self'; worker-src blob:"), { onWorkers: false }],
  ["that forbids both", policy("script-src 'self'; worker-src 'none'"), { onWorkers: false }],
  ["that allows just what is needed", policy("script-src 'self' 'wasm-unsafe-eval'; worker-src blob:"), { onWorkers: true }],
  ["with COOP and COEP", { isolated: true }, { onWorkers: true, isIsolated: true }],
] as const) {
  test(`large steps come back right on a page ${title}`, async ({ page }) => {
    const pages = await startServer({ root: join(import.meta.dirname, "results", "page"), ...options });
    await page.goto(`${pages.url}/index.html`);
    await page.waitForFunction(() => "orbax" in window);
    const found = await page.evaluate(
      async ({ url, steps }) => {
        const { restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers();
        const device = await testDevice();
        const hashes = [];
        for (const step of steps) hashes.push(await restoredHashes(url, step, device));
        return { hashes, counts: watched.counts, isIsolated: crossOriginIsolated };
      },
      { url: server.url, steps: [steps.chunks, steps.frame] },
    );
    await pages.close();
    expect(found.hashes).toEqual([hashes[steps.chunks], hashes[steps.frame]]);
    expect((found.counts.told.decode ?? 0) > 0).toBe(expected.onWorkers);
    if (expected.onWorkers) expect(found.counts.started).toBeGreaterThan(0);
    else expect(found.counts.alive).toBe(0);
    expect(found.isIsolated).toBe("isIsolated" in expected);
  });
}

test("a page that cannot load the workers' script restores without them, and with them as soon as it can", async ({ page }) => {
  await page.route(/chunkWorker/, (route) => route.abort());
  const restore = () =>
    page.evaluate(
      async ({ url, step }) => {
        const { restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers();
        return { hashes: await restoredHashes(url, step, await testDevice()), started: watched.counts.started };
      },
      { url: server.url, step: steps.chunks },
    );
  expect(await restore()).toEqual({ hashes: hashes[steps.chunks], started: 0 });
  await page.unroute(/chunkWorker/);
  expect((await restore()).started).toBeGreaterThan(0);
});

/** Copies a step to the origin's private file system. */
async function copyToOpfs(page: Page, step: number): Promise<void> {
  const paths = [...files.keys()].filter((path) => path.startsWith(`${step}/`));
  await page.evaluate(({ url, paths }) => window.internals.copyFiles("run", url, paths), { url: server.url, paths });
}

/** In the origin's private file system. */
const dataFile = (step: number) => `run/${step}/model/d/0123456789abcdef0123456789abcdef`;

test("workers whose script never answers are given up, and the calling thread decodes", async ({ page }) => {
  await copyToOpfs(page, steps.frame);
  const found = await page.evaluate(
    async ({ places }) => {
      const { restoredHashes, testDevice, watchWorkers } = window.internals;
      const watched = watchWorkers({ script: "setInterval(() => {}, 1000)" });
      // The half of ten seconds passes quickly.
      const { setTimeout } = window;
      window.setTimeout = ((work: () => void, delay = 0) => setTimeout(work, delay === 5000 ? 50 : delay)) as typeof setTimeout;
      const device = await testDevice();
      const hashes = [];
      for (const { directory, step } of places) hashes.push(await restoredHashes(directory, step, device));
      return { hashes, counts: watched.counts };
    },
    {
      places: [
        { directory: server.url, step: steps.chunks },
        { directory: "run", step: steps.frame },
      ],
    },
  );
  expect(found.hashes).toEqual([hashes[steps.chunks], hashes[steps.frame]]);
  expect(found.counts.started).toBeGreaterThan(0);
  expect(found.counts).toMatchObject({ alive: 0, told: {} });
});

for (const [place, step] of [
  ["HTTP", steps.chunks],
  ["OPFS", steps.chunks],
  ["OPFS, in one frame", steps.frame],
] as const) {
  test(`a worker that dies rejects its restore, and the next one works: ${place}`, async ({ page }) => {
    if (place !== "HTTP") await copyToOpfs(page, step);
    const found = await page.evaluate(
      async ({ directory, step }) => {
        const { countBuffers, failureOf, restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers();
        const device = await testDevice();
        const buffers = countBuffers(device);
        const outcomes = [];
        for (const dies of [1, 4]) {
          let pieces = 0;
          let startedBefore = 0;
          watched.onHeard = (kind, kill) => {
            if (kind !== "piece" || ++pieces !== dies) return;
            startedBefore = watched.counts.started;
            kill();
          };
          const failure = await failureOf(restoredHashes(directory, step, device));
          const { alive } = buffers();
          const hashes = await restoredHashes(directory, step, device);
          const isReplaced = watched.counts.started > startedBefore;
          outcomes.push({ name: failure?.name, reason: failure?.reason, alive, hashes, isReplaced });
        }
        return { outcomes, alive: buffers().alive };
      },
      { directory: place === "HTTP" ? server.url : "run", step },
    );
    const outcome = { name: "StorageError", reason: "worker", alive: 0, hashes: hashes[step], isReplaced: true };
    expect(found).toEqual({ outcomes: [outcome, outcome], alive: 0 });
  });

  test(`an abort ends the workers that are busy and leaves nothing: ${place}`, async ({ page }) => {
    if (place !== "HTTP") await copyToOpfs(page, step);
    const found = await page.evaluate(
      async ({ directory, step, dataFile }) => {
        const { countBuffers, restoredHashes, testDevice, watchWorkers, whenWritable } = window.internals;
        const watched = watchWorkers();
        const device = await testDevice();
        const buffers = countBuffers(device);
        const outcomes = [];
        for (const stopsAt of [1, 2, 5]) {
          const controller = new AbortController();
          const reason = new Error("enough");
          let pieces = 0;
          watched.onHeard = (kind) => {
            if (kind === "piece" && ++pieces === stopsAt) controller.abort(reason);
          };
          const before = watched.counts;
          const outcome = await restoredHashes(directory, step, device, { signal: controller.signal }).catch((error: unknown) => error);
          const { started, alive } = watched.counts;
          outcomes.push({
            aborted: outcome === reason,
            buffers: buffers().alive,
            ended: before.alive + started - before.started - alive > 0,
          });
          if (directory === "run") await whenWritable(dataFile);
        }
        watched.onHeard = () => {};
        return { outcomes, hashes: await restoredHashes(directory, step, device), buffers: buffers().alive };
      },
      { directory: place === "HTTP" ? server.url : "run", step, dataFile: dataFile(step) },
    );
    const outcome = { aborted: true, buffers: 0, ended: true };
    expect(found).toEqual({ outcomes: [outcome, outcome, outcome], hashes: hashes[step], buffers: 0 });
  });
}

test("casts, big endian, bools and 4-bit numbers on workers are those of the table", async ({ page }) => {
  await copyToOpfs(page, steps.dtypes);
  const found = await page.evaluate(
    async ({ directories, step, wanted }) => {
      const { restoredHashes, testDevice, watchWorkers } = window.internals;
      const watched = watchWorkers();
      const device = await testDevice();
      const results = [];
      for (const directory of directories) {
        const hashes = await restoredHashes(directory, step, device, { wanted });
        results.push({ hashes, pieces: watched.counts.heard.piece ?? 0 });
      }
      return results;
    },
    { directories: [server.url, "run"], step: steps.dtypes, wanted },
  );
  expect(found.map(({ hashes }) => hashes)).toEqual([hashes[steps.dtypes], hashes[steps.dtypes]]);
  expect(found[0]?.pieces).toBeGreaterThan(4);
  expect(found[1]?.pieces).toBeGreaterThan(2 * 4);
});

test("several data files are dealt to the workers as one: a job each, in which it opens a file once", async ({ page }) => {
  const step = 7;
  const made = await Promise.all([12, 40, 4, 24].map((length, seed) => largeArray(length * mebibyte, seed + 10)));
  const arrays = made.map((array, index) => ({ ...array.inChunksOf(4 * mebibyte), name: `w${index}` }));
  const served = await startServer({ root: processFiles(step, "model", arrays) });
  const paths = [...processFiles(step, "model", arrays).keys()];
  const found = await page.evaluate(
    async ({ url, paths, step }) => {
      Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 });
      const { copyFiles, restoredHashes, testDevice, watchWorkers } = window.internals;
      await copyFiles("run", url, paths);
      const watched = watchWorkers({ stay: true });
      const device = await testDevice();
      await restoredHashes("run", step, device); // starts them
      const before = watched.counts.told.decode ?? 0;
      const opened = new Map<Worker, string[]>();
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (this: Worker, message: ToldShare, ...more: never[]) {
        const { file, path } = message.job ?? message.share ?? {};
        if (file !== undefined && path !== undefined) opened.set(this, [...(opened.get(this) ?? []), path]);
        postMessage.call(this, message, ...more);
      };
      const hashes = await restoredHashes("run", step, device);
      return { hashes, jobs: (watched.counts.told.decode ?? 0) - before, started: watched.counts.started, opened: [...opened.values()] };
    },
    { url: served.url, paths, step },
  );
  await served.close();
  expect(found.hashes).toEqual(Object.fromEntries(made.map((array, index) => [`w${index}`, hashOf(array.contents())])));
  expect(found.started).toBe(2);
  expect(found.jobs).toBe(2);
  expect(found.opened.length).toBe(2);
  for (const opened of found.opened) expect(new Set(opened).size).toBe(opened.length);
  expect(new Set(found.opened.flat()).size).toBe(arrays.length);
});

/** What of the messages to a worker tells it files. */
interface ToldShare {
  readonly job?: { readonly path: string; readonly file?: unknown };
  readonly share?: { readonly path: string; readonly file?: unknown };
}

/** A step with one item, of which each array lies in the database of a process of its own that nobody merged. */
function processFiles(step: number, item: string, arrays: readonly MadeArray[]): Map<string, Uint8Array | ServedFile> {
  const isOfDatabase = (path: string) => /\/(manifest\.ocdbt|d\/\w+)$/.test(path);
  const whole = [...stepFiles(step, item, arrays)].filter(([path]) => !isOfDatabase(path));
  const parts = arrays.flatMap((array, index) =>
    [...stepFiles(step, item, [array])]
      .filter(([path]) => isOfDatabase(path))
      .map(([path, file]) => [path.replace(`${step}/${item}/`, `${step}/${item}/ocdbt.process_${index}/`), file] as const),
  );
  return new Map([...whole, ...parts]);
}

for (const [title, step, decodes] of [
  ["of float noise is split over the workers", steps.frame, { least: 2, most: 8 }],
  ["with matches is decoded by one of them", steps.structured, { least: 1, most: 1 }],
] as const) {
  test(`a long frame ${title}, from the file itself, which can be changed afterwards`, async ({ page }) => {
    await copyToOpfs(page, step);
    const found = await page.evaluate(
      async ({ step, dataFile }) => {
        const { removeFile, restoredHashes, testDevice, watchWorkers, whenWritable } = window.internals;
        const watched = watchWorkers();
        const hashes = await restoredHashes("run", step, await testDevice());
        const refusals = await whenWritable(dataFile);
        await removeFile(dataFile);
        return { hashes, refusals, counts: watched.counts };
      },
      { step, dataFile: dataFile(step) },
    );
    expect(found.hashes).toEqual(hashes[step]);
    expect(found.refusals).toBe(0);
    expect(found.counts.told.split).toBe(1);
    expect(found.counts.told.bytes).toBeUndefined();
    expect(found.counts.told.decode).toBeGreaterThanOrEqual(decodes.least);
    expect(found.counts.told.decode).toBeLessThanOrEqual(decodes.most);
  });
}

test("a damaged byte in a long frame is found or gives other bytes, and the file can be changed soon", async ({ page }) => {
  await copyToOpfs(page, steps.frame);
  const length = storedBytes[steps.frame] ?? 0;
  const places = [middleBlock, ...[0.13, 0.52, 0.999].map((part) => Math.floor(part * length))];
  const found = await page.evaluate(
    async ({ step, dataFile, places, hash }) => {
      const { countBuffers, flipBits, restoredHashes, testDevice, whenWritable } = window.internals;
      const device = await testDevice();
      const buffers = countBuffers(device);
      const outcomes = [];
      let damaged: number[] = [];
      for (const place of places) {
        await flipBits(dataFile, [...damaged, place]);
        damaged = [place];
        const outcome = await restoredHashes("run", step, device).then(
          ({ w }) => (w === hash ? "the same bytes" : "other bytes"),
          (error: Error & { path?: string; offset?: number }) => ({ name: error.name, path: error.path, offset: error.offset }),
        );
        outcomes.push({ outcome, buffers: buffers().alive, refusals: await whenWritable(dataFile) });
      }
      await flipBits(dataFile, damaged);
      return { outcomes, whole: await restoredHashes("run", step, device) };
    },
    { step: steps.frame, dataFile: dataFile(steps.frame), places, hash: hashes[steps.frame]?.w },
  );
  const corrupt = { name: "CorruptCheckpointError", path: expect.stringMatching(/^2\/model\/d\/\w+$/), offset: expect.any(Number) };
  for (const { outcome, buffers } of found.outcomes) {
    expect(outcome === "other bytes" ? corrupt : outcome).toEqual(corrupt);
    expect(buffers).toBe(0);
  }
  // Where a block begins, so that none of those behind it is found.
  expect(found.outcomes[0]?.outcome).toEqual(corrupt);
  expect(found.whole).toEqual(hashes[steps.frame]);
});

test("a file that changes before a worker opens it begins the restore anew, and stops it where it does so again", async ({ page }) => {
  await copyToOpfs(page, steps.chunks);
  const found = await page.evaluate(
    async ({ step, dataFile }) => {
      Object.defineProperty(navigator, "hardwareConcurrency", { value: 1 });
      const { countBuffers, failureOf, flipBits, restoredHashes, testDevice, watchWorkers } = window.internals;
      const watched = watchWorkers();
      const device = await testDevice();
      const buffers = countBuffers(device);
      let jobs = 0;
      watched.beforeTold = (kind) => {
        if (kind !== "decode") return undefined;
        jobs += 1;
        return flipBits(dataFile, [1_000_000]);
      };
      const failure = await failureOf(restoredHashes("run", step, device));
      return { name: failure?.name, reason: failure?.reason, message: failure?.message, jobs, alive: buffers().alive };
    },
    { step: steps.chunks, dataFile: dataFile(steps.chunks) },
  );
  const message = expect.stringMatching(/^1\/model\/d\/\w+: the file changed/);
  expect(found).toEqual({ name: "StorageError", reason: "changed", message, jobs: 2, alive: 0 });
});

for (const [title, step] of [
  ["in one frame", steps.longFrame],
  ["in chunks of 4 MiB", steps.longChunks],
] as const) {
  test(`96 MiB ${title} come by few requests, few messages and little memory`, async ({ page }) => {
    server.resetRequests();
    const found = await page.evaluate(
      async ({ url, step }) => {
        const { restoredHashes, testDevice, watchMemory, watchUnread, watchWorkers } = window.internals;
        const watched = watchWorkers();
        const memory = watchMemory();
        const unread = watchUnread();
        const device = await testDevice();
        const hashes = await restoredHashes(url, step, device);
        return { hashes, counts: watched.counts, memory: await memory(), unread: unread() };
      },
      { url: server.url, step },
    );
    const { counts, memory } = found;
    expect(found.hashes).toEqual(hashes[step]);
    // 16 for 256 MiB, and the index at the file's end.
    expect(server.requests.filter(({ path }) => path.includes("/d/")).length).toBeLessThanOrEqual(6 + 1);
    expect(found.unread).toBeGreaterThan(mebibyte);
    expect(found.unread).toBeLessThanOrEqual(32 * mebibyte);
    const stored = storedBytes[step] ?? 0;
    const jobs = counts.told.decode ?? 0;
    expect(counts.postedBytes).toBe(stored);
    expect(counts.longestPost).toBeLessThanOrEqual(mebibyte);
    expect(counts.told.bytes).toBeLessThanOrEqual(512 + jobs);
    expect(counts.longestPiece).toBeLessThanOrEqual(4 * mebibyte);
    expect(counts.heard.piece).toBeLessThanOrEqual(128 + jobs);
    expect(counts.told.returned).toBe(counts.heard.piece);
    expect(memory.inWorkers).toBeGreaterThan(0);
    expect(memory.inWorkers).toBeLessThanOrEqual(2 * counts.started);
    expect(memory.here).toBeGreaterThan(0);
    expect(memory.here).toBeLessThanOrEqual(24);
  });
}

test("a user's worker restores with workers of its own", async ({ page }) => {
  await copyToOpfs(page, steps.frame);
  for (const [directory, step] of [
    [server.url, steps.chunks],
    ["run", steps.frame],
  ] as const) {
    const found = await page.evaluate(({ directory, step }) => window.internals.inNestedWorkers(directory, step), { directory, step });
    expect(found.hashes).toEqual(hashes[step]);
    expect(found.counts.started).toBeGreaterThan(0);
    expect(found.counts.told.decode).toBeGreaterThan(1);
  }
});
