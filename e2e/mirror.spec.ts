import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright/test";
import type { Expected } from "./fixtures/expected.js";
import { browserOnDisk } from "./page/onDisk.js";
import { conformanceFiles } from "./page/opfs/conformanceFiles.js";
import type { KeptExtent } from "./page/opfs/keptExtents.js";
import { randomFrom } from "./page/random.js";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { processesOf } from "./setup/processMemory.js";

// Mirrors in the origin's private file system: what every storage must do, checkpoints, tabs that are killed, two tabs, a full disk.

const mebibyte = 2 ** 20;

const random = randomFrom(20_261_130);

/** Files of a run, one of them so long that it is kept in many parts. */
const files = new Map([
  ["100/d/0123456789abcdef0123456789abcdef", random.bytes(24 * mebibyte + 17)],
  ["100/other", random.bytes(9 * mebibyte)],
  ["100/manifest.ocdbt", random.bytes(5000)],
  ["100/_METADATA", random.bytes(300)],
]);

const total = [...files.values()].reduce((sum, { length }) => sum + length, 0);

/** What a server was asked to send of the files. */
const sentBy = (server: RunningServer) =>
  server.requests.flatMap(({ method, path, range, status }) => {
    const file = files.get(path.slice(1));
    if (method !== "GET" || file === undefined || status >= 300) return [];
    const [, start = "0", end = String(file.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    return [{ path: path.slice(1), offset: Number(start), length: Number(end) + 1 - Number(start) }];
  });

type Run = Pick<KeptExtent, "path" | "offset" | "length">;

const doMeet = (a: Run, b: Run) => a.path === b.path && a.offset < b.offset + b.length && b.offset < a.offset + a.length;

/** What was sent although it was there, or twice. */
const needless = (sent: readonly Run[], kept: readonly Run[]) =>
  sent.filter((run, index) => kept.some((one) => doMeet(run, one)) || sent.slice(0, index).some((one) => doMeet(run, one)));

const bytesOf = (runs: readonly Run[]) => runs.reduce((sum, { length }) => sum + length, 0);

const keptIn = (page: Page, cache: string) => page.evaluate((cache) => window.internals.keptExtents(cache), cache);

/** Reads all files through a mirror; their digests, and why something was not kept. */
const readAll = (page: Page, url: string, cache: string) =>
  page.evaluate(
    async ({ url, cache, paths }) => {
      const mirror = window.orbax.mirrored(url, cache);
      await mirror.download().catch(() => undefined);
      const digests: Record<string, string> = {};
      for (const path of paths) {
        const digest = await crypto.subtle.digest("SHA-256", new Uint8Array((await mirror.read(path)) ?? []));
        digests[path] = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
      }
      return { digests, problem: window.orbax.isCheckpointError(mirror.progress.problem, "Storage") && mirror.progress.problem.reason };
    },
    { url, cache, paths: [...files.keys()] },
  );

const digests = Object.fromEntries([...files].map(([path, bytes]) => [path, createHash("sha256").update(bytes).digest("hex")]));

test("does what every storage must do, on a page and in a worker", async ({ page }) => {
  const server = await startServer({ root: new Map(conformanceFiles) });
  const [onPage, inWorker] = await page.evaluate(async (url) => {
    const { inWorker, opfsTasks } = window.internals;
    return [await opfsTasks.problemsOfMirror(url, "mirror/page"), await inWorker("problemsOfMirror", url, "mirror/worker")];
  }, server.url);
  await server.close();
  expect(onPage.problems).toEqual([]);
  expect(onPage.run).toBeGreaterThan(30);
  expect(inWorker).toEqual(onPage);
});

test("a checkpoint is restored onto the GPU from the network, then from what was kept, then without a network", async ({ page }) => {
  const digits = join(import.meta.dirname, "fixtures", "data", "digits");
  const { items = {} } = (JSON.parse(readFileSync(join(digits, "expected.json"), "utf8")) as Expected).steps["1200"] ?? {};
  const server = await startServer({ root: join(digits, "checkpoints") });
  const restore = () =>
    page.evaluate(
      async ({ url, items }) => {
        const { problemsOfStep, testDevice } = window.internals;
        const mirror = window.orbax.mirrored(url, "restored");
        return { problems: await problemsOfStep(mirror, 1200, items, await testDevice()), progress: mirror.progress };
      },
      { url: server.url, items },
    );
  const first = await restore();
  expect(first).toMatchObject({ problems: [], progress: { offline: false } });
  expect(first.progress.problem).toBeUndefined();
  const asked = server.requests.length;
  server.resetRequests();
  const again = await restore();
  expect(again).toMatchObject({ problems: [], progress: { fetchedBytes: 0, offline: false } });
  expect(server.requests.every(({ method }) => method === "HEAD")).toBe(true);
  expect(server.requests.length).toBeLessThan(asked);
  await server.close();
  expect(await restore()).toMatchObject({ problems: [], progress: { fetchedBytes: 0, offline: true } });
});

test("a tab that is killed at seeded moments goes on without what it has, and never takes a part for the whole", async ({ pageServer }) => {
  const server = await startServer({ root: new Map(files), faults: [{ kind: "slow", bytesPerSecond: 30 * mebibyte }] });
  const browser = browserOnDisk(pageServer.url);
  try {
    const grown: number[] = [];
    for (let round = 0; ; round++) {
      const page = await browser.open();
      const { extents } = await keptIn(page, "killed");
      const before = bytesOf(extents);
      grown.push(before);
      expect(extents.filter(({ isWhole }) => !isWhole)).toEqual([]);
      server.resetRequests();
      const place = `round ${round} of ${grown}`;
      const working = page.evaluate((url) => window.orbax.mirrored(url, "killed").download(), server.url).catch((error: unknown) => error);
      if (round < 12) {
        // What is sent until then is nothing, or a part of what is missing.
        const until = Math.min(random.integer(0, 20) * mebibyte, total - before - mebibyte);
        await reached(server, until, working);
        await delay(random.integer(0, 40));
        for (const id of processesOf("renderer", process.pid)) killed(id);
        await working;
        expect(needless(sentBy(server), extents), place).toEqual([]);
        await page.close();
        if (round % 4 === 3) await browser.end();
        continue;
      }
      expect(await working).toBeUndefined();
      expect(needless(sentBy(server), extents), place).toEqual([]);
      expect(bytesOf(sentBy(server)), place).toBe(total - before);
      const whole = await keptIn(page, "killed");
      expect(bytesOf(whole.extents)).toBe(total);
      expect(whole.unfinished).toEqual([]);
      await server.close();
      expect((await readAll(page, server.url, "killed")).digests).toEqual(digests);
      break;
    }
    // Kills met it in the middle: some came to something, and not to all.
    expect(new Set(grown).size, `${grown}`).toBeGreaterThan(3);
    expect(grown.every((bytes, index) => bytes >= (grown[index - 1] ?? 0))).toBe(true);
  } finally {
    await browser.remove();
  }
});

test("a tab that is killed in the middle of blocks fetches again at most the last piece of each", async ({ pageServer }) => {
  const server = await startServer({ root: new Map(files) });
  const browser = browserOnDisk(pageServer.url);
  try {
    // Each answer comes to a halt in its fourth megabyte.
    const sentOfEach = 3 * mebibyte + 100_000;
    server.addFault({ kind: "hang", afterBytes: sentOfEach, path: /other$|d\/0123/ });
    const page = await browser.open();
    const working = page.evaluate((url) => window.orbax.mirrored(url, "bound").download(), server.url).catch((error: unknown) => error);
    const halted = () => server.requests.filter(({ method, bytes }) => method === "GET" && bytes === sentOfEach).length;
    const keptOfEach = async () => {
      // Files get their names while they are looked at.
      const { extents } = await keptIn(page, "bound").catch(() => ({ extents: [] }));
      return extents.filter(({ path }) => /other$|d\//.test(path)).map(({ length }) => length);
    };
    const lastPiece = 256 * 1024;
    const all = async () => (await keptOfEach()).filter((length) => length > sentOfEach - lastPiece).length;
    // Two blocks of each of the two files are on their way.
    await expect.poll(halted).toBe(4);
    await expect.poll(all).toBe(4);
    for (const id of processesOf("renderer", process.pid)) killed(id);
    await working;
    await page.close();
    await browser.end();

    server.clearFaults();
    const sentBefore = bytesOf(sentBy(server).map((run) => ({ ...run, length: Math.min(run.length, sentOfEach) })));
    server.resetRequests();
    const next = await browser.open();
    const { extents } = await keptIn(next, "bound");
    expect(sentBefore - bytesOf(extents)).toBeLessThan(4 * lastPiece);
    await next.evaluate((url) => window.orbax.mirrored(url, "bound").download(), server.url);
    expect(needless(sentBy(server), extents)).toEqual([]);
    expect(bytesOf(sentBy(server))).toBe(total - bytesOf(extents));
    await server.close();
    expect((await readAll(next, server.url, "bound")).digests).toEqual(digests);
    expect((await keptIn(next, "bound")).unfinished).toEqual([]);
  } finally {
    await browser.remove();
  }
});

/** Waits until a server has sent so many bytes, or the work ended. */
async function reached(server: RunningServer, byteLength: number, working: Promise<unknown>): Promise<void> {
  let ended = false;
  void working.then(() => {
    ended = true;
  });
  while (!ended && server.requests.reduce((sum, { bytes }) => sum + bytes, 0) < byteLength) await delay(2);
}

function killed(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

test("two tabs that read the same at the same time share each byte", async ({ context, page, pageServer }) => {
  const server = await startServer({ root: new Map(files), faults: [{ kind: "slow", bytesPerSecond: 60 * mebibyte }] });
  const other = await context.newPage();
  await other.goto(pageServer.url);
  await other.waitForFunction(() => "orbax" in window);
  const read = await Promise.all([page, other, page].map((tab) => readAll(tab, server.url, "shared")));
  await server.close();
  for (const one of read) expect(one).toEqual({ digests, problem: false });
  expect(needless(sentBy(server), [])).toEqual([]);
  expect(bytesOf(sentBy(server))).toBe(total);
});

test("a full disk lets reads go on, and later they fetch what was not kept", async ({ page, pageServer }) => {
  const server = await startServer({ root: new Map(files) });
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(pageServer.url);
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 20 * mebibyte });
  expect(await readAll(page, server.url, "full")).toEqual({ digests, problem: "quota" });
  const { extents } = await keptIn(page, "full");
  expect(extents.filter(({ isWhole }) => !isWhole)).toEqual([]);
  expect(bytesOf(extents)).toBeGreaterThan(4 * mebibyte);
  expect(bytesOf(extents)).toBeLessThan(total);

  await session.send("Storage.overrideQuotaForOrigin", { origin });
  server.resetRequests();
  expect(await readAll(page, server.url, "full")).toEqual({ digests, problem: false });
  expect(needless(sentBy(server), extents)).toEqual([]);
  expect(bytesOf(sentBy(server))).toBe(total - bytesOf(extents));
  await server.close();
  expect((await readAll(page, server.url, "full")).digests).toEqual(digests);
});
