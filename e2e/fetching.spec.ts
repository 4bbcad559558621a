import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Page } from "playwright/test";
import { expect, test } from "./page/test.js";
import { appPage, type Fault, type RunningServer, type ServedFile, startServer } from "./server/server.mjs";
import { largeArray } from "./synthetic/largeArray.js";
import { stepFiles } from "./synthetic/stepFiles.js";

// Restores whose workers make the requests: what is asked, what faults of servers come to, and whose requests stay on the page's thread.

const mebibyte = 2 ** 20;

/** Step 1 has a chunk in each run, step 2 several. */
const steps = { frames: 1, chunks: 2 } as const;

let server: RunningServer;
let files: ReadonlyMap<string, Uint8Array | ServedFile>;
let hashes: { readonly w: string };

test.beforeAll(async () => {
  const array = await largeArray(40 * mebibyte, 11);
  const made = [
    [steps.frames, 10],
    [steps.chunks, 2],
  ] as const;
  files = new Map(made.flatMap(([step, length]) => [...stepFiles(step, "model", [array.inChunksOf(length * mebibyte)])]));
  const hash = createHash("sha256");
  for (const piece of array.contents()) hash.update(piece);
  hashes = { w: hash.digest("hex") };
  server = await startServer({ root: new Map(files) });
});
test.afterAll(() => server.close());

test.beforeEach(() => {
  server.clearFaults();
  server.resetRequests();
});

interface Asked {
  readonly step: number;
  readonly url?: string;
  readonly options?: { readonly idleTimeoutMs?: number; readonly headers?: Record<string, string>; readonly retries?: number };
}

/** Restores in the page: hashes or how it failed, and how often each kind of message was told to workers. */
async function restore(page: Page, { url = server.url, step, options = {} }: Asked) {
  return page.evaluate(
    async ({ url, step, options }) => {
      const { countBuffers, restoredHashes, testDevice, watchWorkers } = window.internals;
      const watched = watchWorkers();
      const device = await testDevice();
      const buffers = countBuffers(device);
      const outcome = await restoredHashes(window.orbax.httpStorage(url, options), step, device).then(
        (found) => found as object,
        ({ name, reason }) => ({ name, reason }) as object,
      );
      const { told, mostUnread } = watched.counts;
      const { bytes: posts = 0, fetch: fetches = 0 } = told;
      return { outcome, posts, fetches, mostUnread, buffers: buffers().alive };
    },
    { url, step, options },
  );
}

/** Requests for stored bytes of chunks: long ranges. */
const longRequests = ({ requests } = server) =>
  requests.flatMap((request) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.range ?? "") ?? [];
    const length = Number(last) - Number(first) + 1;
    return request.method === "GET" && length > mebibyte ? [{ ...request, offset: Number(first), length }] : [];
  });

const isData = /\/d\//;

/** Requests for parts of the data file that a restore makes before those for chunks, which are for the index; by step. */
const indexRequests = new Map<number, number>();

/** A fault of the requests for chunks. */
async function faultOfChunks(page: Page, step: number, fault: Fault): Promise<void> {
  const after = indexRequests.get(step) ?? (await countIndexRequests(page, step));
  indexRequests.set(step, after);
  server.addFault({ ...fault, path: isData, ranged: true, after });
}

async function countIndexRequests(page: Page, step: number): Promise<number> {
  await restore(page, { step });
  const index = server.requests.findIndex(({ range }) => range === longRequests()[0]?.range);
  const count = server.requests.slice(0, index).filter(({ path, range }) => isData.test(path) && range !== undefined).length;
  server.resetRequests();
  await page.reload(); // its workers are those that were watched
  await page.waitForFunction(() => "orbax" in window);
  return count;
}

for (const [name, step] of Object.entries(steps)) {
  test(`the workers ask, the page only counts: ${name}`, async ({ page }) => {
    const found = await restore(page, { step });
    expect(found).toMatchObject({ outcome: hashes, posts: 0, fetches: longRequests().length, buffers: 0 });
    expect(found.fetches).toBeGreaterThan(2);
    expect(found.mostUnread).toBeGreaterThan(8 * mebibyte);
    expect(found.mostUnread).toBeLessThanOrEqual(32 * mebibyte);
    expect(server.requests.filter(({ aborted }) => aborted)).toEqual([]);
    expect(server.requests.length).toBeLessThan(30);
  });

  test(`bodies that break off are taken up where they broke, and nothing is asked for twice but the last piece: ${name}`, async ({
    page,
  }) => {
    server.addFault({ kind: "cut", afterBytes: 3_000_000, path: isData, times: 5 });
    const found = await restore(page, { step });
    expect(found).toMatchObject({ outcome: hashes, posts: 0 });
    const requests = longRequests();
    const broken = requests.filter(({ aborted }) => aborted);
    expect(broken.length).toBeGreaterThan(1);
    for (const { offset, length, bytes } of broken) {
      const again = requests.filter((other) => other.offset > offset && other.offset + other.length === offset + length);
      expect(again.length).toBeGreaterThan(0);
      expect(Math.min(...again.map((other) => other.offset))).toBeGreaterThanOrEqual(offset + bytes - 3 * mebibyte);
    }
  });

  test(`refusals that pass are waited for, and workers go on asking: ${name}`, async ({ page }) => {
    await faultOfChunks(page, step, { kind: "status", status: 503, retryAfter: 0, times: 3 });
    const found = await restore(page, { step });
    const refused = longRequests().filter(({ status }) => status === 503);
    expect(refused.length).toBe(3);
    expect(found).toMatchObject({ outcome: hashes, posts: 0, fetches: longRequests().length, buffers: 0 });
  });

  test(`a server that stands still is asked again: ${name}`, async ({ page }) => {
    const afterBytes = 1_500_000;
    await faultOfChunks(page, step, { kind: "hang", afterBytes, times: 2 });
    const found = await restore(page, { step, options: { idleTimeoutMs: 1500, retries: 20 } });
    expect(found).toMatchObject({ outcome: hashes, posts: 0 });
    // A busy machine may stand still so long, too.
    expect(longRequests().filter(({ aborted, bytes }) => aborted && bytes === afterBytes).length).toBe(2);
  });
}

test("where a worker is refused the page asks itself, and workers ask no more once that gave bytes", async ({ page }) => {
  await faultOfChunks(page, steps.frames, { kind: "status", status: 403, times: 1 });
  const found = await restore(page, { step: steps.frames });
  expect(found.outcome).toEqual(hashes);
  expect(found.fetches).toBeLessThan(longRequests().length);
  expect(found.posts).toBeGreaterThan(2);
});

test("a connection that breaks before its answer", async ({ page }) => {
  await faultOfChunks(page, steps.chunks, { kind: "cut", afterBytes: 0, times: 2 });
  expect(await restore(page, { step: steps.chunks })).toMatchObject({ outcome: hashes });
});

for (const [title, step, fault] of [
  ["begins elsewhere", steps.frames, { kind: "shift", by: 100 }],
  ["is compressed", steps.chunks, { kind: "gzip", of: "part" }],
  ["is not a part", steps.frames, { kind: "ignore-range" }],
] as const) {
  test(`nothing of a body that ${title} is decoded: the file is taken whole`, async ({ page }) => {
    await faultOfChunks(page, step, fault);
    const found = await restore(page, { step });
    expect(found.outcome).toEqual(hashes);
    expect(server.requests.filter(({ path, range }) => isData.test(path) && range === undefined).length).toBeLessThanOrEqual(1);
  });
}

test("a body that is too long fails the restore, and one that is too short is asked for again", async ({ page }) => {
  await faultOfChunks(page, steps.frames, { kind: "short", by: 70_000, times: 2 });
  expect(await restore(page, { step: steps.frames })).toMatchObject({ outcome: hashes, posts: 0 });
  server.clearFaults();
  server.resetRequests();
  await faultOfChunks(page, steps.frames, { kind: "long", by: 5 });
  expect(await restore(page, { step: steps.frames })).toMatchObject({ outcome: { name: "StorageError", reason: "length" }, buffers: 0 });
});

test("data files that come as HTML pages by their type are looked at, and then read", async ({ page }) => {
  const typed = new Map(
    [...files].map(([path, file]) => [path, "read" in file && isData.test(path) ? { ...file, contentType: "text/html" } : file]),
  );
  const other = await startServer({ root: typed });
  const found = await restore(page, { step: steps.frames, url: other.url });
  await other.close();
  expect(found).toMatchObject({ outcome: hashes, posts: 0 });
  expect(found.fetches).toBeGreaterThan(2);
});

test("an HTML page in place of a data file is named", async ({ page }) => {
  await faultOfChunks(page, steps.frames, { kind: "body", body: appPage.padEnd(48 * mebibyte), contentType: "text/html", ranges: true });
  const found = await restore(page, { step: steps.frames });
  expect(found).toMatchObject({ outcome: { name: "StorageError" }, buffers: 0 });
});

test("a file that changes between two requests of a run begins the restore anew, and stops it where it does so again", async ({ page }) => {
  const [path, file] = [...files].find(([name]) => name.startsWith(`${steps.frames}/`) && isData.test(name)) as [string, ServedFile];
  const changing = (times: number) => {
    let version = 0;
    return startServer({
      root: (asked) => {
        const found = files.get(asked.slice(1));
        if (found === undefined || asked !== `/${path}` || !("read" in found)) return found;
        return {
          ...file,
          etag: `"${Math.min(times, version)}"`,
          read: (start, end) => {
            if (start > 8 * mebibyte && end - start > 8 * mebibyte) version += 1;
            return file.read(start, end);
          },
        };
      },
    });
  };
  const outcomes = [];
  for (const times of [1, 100]) {
    const other = await changing(times);
    outcomes.push(await restore(page, { step: steps.frames, url: other.url }));
    await other.close();
  }
  expect(outcomes).toMatchObject([{ outcome: hashes }, { outcome: { name: "StorageError", reason: "changed" }, buffers: 0 }]);
});

for (const when of ["fetch", "answered", "arrived", "piece"]) {
  test(`an abort at the first message "${when}" closes all connections`, async ({ page }) => {
    await faultOfChunks(page, steps.frames, { kind: "hang", afterBytes: 6 * mebibyte });
    const found = await page.evaluate(
      async ({ url, step, when }) => {
        const { countBuffers, restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers();
        const controller = new AbortController();
        const reason = new Error("enough");
        const stop = (kind: string) => {
          if (kind === when) controller.abort(reason);
          return undefined;
        };
        watched.onHeard = stop;
        watched.beforeTold = stop;
        const device = await testDevice();
        const buffers = countBuffers(device);
        const outcome = await restoredHashes(url, step, device, { signal: controller.signal }).catch((error: unknown) => error);
        return { isReason: outcome === reason, alive: buffers().alive };
      },
      { url: server.url, step: steps.frames, when },
    );
    expect(found).toEqual({ isReason: true, alive: 0 });
    // What was sent before is there before this is.
    const goTo = (path: string) => page.evaluate((url) => fetch(url).then(({ status }) => status), `${server.url}/${path}`);
    expect(await goTo("first")).toBe(404);
    await expect.poll(() => longRequests().every(({ aborted }) => aborted)).toBe(true);
    const asked = longRequests().length;
    expect(await goTo("second")).toBe(404);
    expect(longRequests().length).toBe(asked);
  });
}

for (const how of ["a function", "bound", "a Proxy", "httpStorage's own"] as const) {
  test(`a fetch of one's own hears of every request: ${how}`, async ({ page }) => {
    const found = await page.evaluate(
      async ({ url, step, how }) => {
        const { restoredHashes, testDevice, watchWorkers } = window.internals;
        const watched = watchWorkers();
        const platform = window.fetch.bind(window);
        const heard: string[] = [];
        const own = (input: RequestInfo | URL, init?: RequestInit) => {
          if (String(input).startsWith(url)) heard.push(String(input));
          return platform(input, init);
        };
        if (how === "a function") window.fetch = own;
        if (how === "bound") window.fetch = own.bind(window);
        if (how === "a Proxy") window.fetch = new Proxy(window.fetch, { apply: (_target, _this, args: [string]) => own(...args) });
        const options = how === "httpStorage's own" ? { fetch: own } : {};
        const hashes = await restoredHashes(window.orbax.httpStorage(url, options), step, await testDevice());
        return { hashes, heard: heard.length, told: watched.counts.told };
      },
      { url: server.url, step: steps.chunks, how },
    );
    expect(found.hashes).toEqual(hashes);
    expect(found.heard).toBe(server.requests.length);
    expect(found.told.fetch).toBeUndefined();
    expect(found.told.bytes).toBeGreaterThan(2);
  });
}

for (const how of ["spread", "its stream replaced", "mirrored"] as const) {
  test(`who reads a storage's stream gets its bytes: ${how}`, async ({ page }) => {
    const found = await page.evaluate(
      async ({ url, step, how }) => {
        const { restoredHashes, testDevice, watchWorkers } = window.internals;
        const { httpStorage, memoryStorage, mirrored } = window.orbax;
        const watched = watchWorkers();
        const inner = httpStorage(url);
        delete inner.snapshot; // which would be read in its place
        let seen = 0;
        const { stream: plain } = inner;
        async function* stream(...asked: Parameters<NonNullable<typeof plain>>) {
          for await (const piece of plain?.(...asked) ?? []) {
            seen += piece.some((byte) => byte !== 0) ? piece.length : 0;
            yield piece;
          }
        }
        const own = how === "spread" ? { ...inner, stream } : how === "mirrored" ? mirrored(inner, memoryStorage()) : inner;
        if (how === "its stream replaced") inner.stream = stream;
        const hashes = await restoredHashes(own, step, await testDevice());
        return { hashes, seen, told: watched.counts.told };
      },
      { url: server.url, step: steps.chunks, how },
    );
    expect(found.hashes).toEqual(hashes);
    if (how !== "mirrored") expect(found.seen).toBeGreaterThan(mebibyte);
    expect(found.told.fetch).toBeUndefined();
  });
}

test("headers that hold credentials stay with their origin where a redirect leads to another", async ({ page }) => {
  const elsewhere = await startServer({ root: new Map(files) });
  for (const [path] of files) {
    if (isData.test(path)) server.addFault({ kind: "redirect", location: `${elsewhere.url}/${path}`, path: `/${path}` });
  }
  const found = await restore(page, { step: steps.chunks, options: { headers: { authorization: "Bearer secret" } } });
  expect(found).toMatchObject({ outcome: hashes });
  expect(found.fetches).toBeGreaterThan(2);
  expect(longRequests(elsewhere).length).toBeGreaterThan(2);
  expect(elsewhere.requests.filter(({ headers }) => "authorization" in headers)).toEqual([]);
  await elsewhere.close();
});

for (const [title, hosts, isAllowed] of [
  ["allows just the server", () => `'self' ${server.url}`, true],
  ["forbids the server", () => "'self'", false],
] as const) {
  test(`a page whose policy ${title}`, async ({ page }) => {
    const headers = { "content-security-policy": `connect-src ${hosts()}` };
    const pages = await startServer({ root: join(import.meta.dirname, "results", "page"), headers });
    await page.goto(`${pages.url}/index.html`);
    await page.waitForFunction(() => "orbax" in window);
    const found = await restore(page, { step: steps.chunks, options: { retries: 0 } });
    await pages.close();
    if (isAllowed) expect(found).toMatchObject({ outcome: hashes, posts: 0 });
    else expect(found.outcome).toEqual({ name: "StorageError", reason: "network" });
  });
}
