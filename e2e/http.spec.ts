import type { Page } from "playwright/test";
import { expect, test } from "./page/test.js";
import { appPage, type Fault, type RunningServer, type ServerOptions, startServer } from "./server/server.mjs";

// What only a browser does: CORS, hidden headers, decompression below fetch, redirects that a page cannot see.

const data = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31 + (index >> 8)) % 256);
const root = new Map([
  ["run/d/0a", data],
  ["run/_METADATA", new TextEncoder().encode("{}")],
]);
const running: RunningServer[] = [];

test.afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

// Another origin than the page's, whose host is "localhost".
async function serve(faults: readonly Fault[] = [], options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ root, faults, ...options });
  running.push(server);
  return server;
}

interface Asked {
  readonly url: string;
  readonly path?: string;
  readonly range?: { readonly offset: number; readonly length: number };
  readonly options?: { readonly headers?: Record<string, string>; readonly retries?: number; readonly wholeFileBytes?: number };
}

/** Reads in the page: the bytes, `undefined`, or what the error says. */
async function read(page: Page, asked: Asked): Promise<number[] | undefined | { name: string; reason: string; message: string }> {
  return page.evaluate(async ({ url, path = "run/d/0a", range, options }) => {
    try {
      const bytes = await window.orbax.httpStorage(url, options).read(path, range && { range });
      return bytes && [...bytes];
    } catch (error) {
      const { name, reason, message } = error as { name: string; reason: string; message: string };
      return { name, reason, message };
    }
  }, asked);
}

const middle = { offset: 100_000, length: 50_000 };
const part = [...data.subarray(100_000, 150_000)];

test("ranges cross origins without a preflight, and with all headers hidden", async ({ page }) => {
  const server = await serve([{ kind: "no-preflight" }, { kind: "hide-headers" }]);
  expect(await read(page, { url: server.url, range: middle })).toEqual(part);
  expect(await read(page, { url: server.url, path: "run/nothing" })).toBeUndefined();
  expect(await read(page, { url: server.url, path: "run/d" })).toBeUndefined();
  expect(server.requests.map(({ method }) => method)).not.toContain("OPTIONS");
});

test("a part that the server compresses is read whole instead, whether or not the page may see that it is compressed", async ({ page }) => {
  for (const hide of [[], [{ kind: "hide-headers" }]] as Fault[][]) {
    for (const of of ["file", "part"] as const) {
      const server = await serve([{ kind: "gzip", of, ranged: true }, ...hide]);
      for (const range of [middle, { offset: 0, length: 1000 }]) {
        const expected = [...data.subarray(range.offset, range.offset + range.length)];
        expect(await read(page, { url: server.url, range, options: { retries: 1 } })).toEqual(expected);
      }
    }
  }
});

test("a server that ignores ranges, breaks connections or changes a file", async ({ page }) => {
  const rangeless = await serve([{ kind: "ignore-range" }]);
  expect(await read(page, { url: rangeless.url, range: middle })).toEqual(part);
  expect(await read(page, { url: rangeless.url, range: middle, options: { wholeFileBytes: 1000 } })).toMatchObject({ reason: "no-ranges" });
  const cutting = await serve([{ kind: "cut", afterBytes: 20_000, times: 2 }]);
  expect(await read(page, { url: cutting.url, range: middle })).toEqual(part);
  const cuttingWhole = await serve([{ kind: "cut", afterBytes: 20_000, times: 2 }]);
  expect(await read(page, { url: cuttingWhole.url })).toEqual([...data]);
  const changing = await serve([
    { kind: "cut", afterBytes: 20_000, times: 1 },
    { kind: "replace", bytes: data.slice().reverse(), after: 1 },
  ]);
  expect(await read(page, { url: changing.url, range: middle })).toMatchObject({ reason: "changed" });
});

test("a refusal by CORS and a page instead of a file say what to do", async ({ page }) => {
  const closed = await serve([], { cors: false });
  const refused = await read(page, { url: closed.url, options: { retries: 0 } });
  expect(refused).toMatchObject({
    name: "StorageError",
    reason: "network",
    message: expect.stringContaining("Access-Control-Allow-Origin"),
  });
  const app = await serve([{ kind: "body", body: appPage, path: /^\/run/ }]);
  expect(await read(page, { url: app.url })).toMatchObject({ reason: "not-a-checkpoint" });
});

test("credentials stay with their origin", async ({ page }) => {
  const other = await serve();
  const server = await serve([{ kind: "redirect", path: "/run/d/0a", location: `${other.url}/run/d/0a` }]);
  const options = { headers: { authorization: "Bearer secret" } };
  const url = server.url.replace("//", "//me:hunter2@");
  expect(await read(page, { url: `${server.url}/?sig=1`, range: middle, options })).toEqual(part);
  expect(await read(page, { url, path: "run/_METADATA" })).toEqual([...new TextEncoder().encode("{}")]);
  const sent = server.requests.filter(({ method }) => method === "GET");
  expect(sent.map(({ headers }) => headers.authorization)).toEqual(["Bearer secret", "Bearer secret", `Basic ${btoa("me:hunter2")}`]);
  expect(other.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test("six requests for one file go at once, and neighbours are one", async ({ page }) => {
  const server: RunningServer = await serve([], {
    root: async (path) => {
      // Those that may go at once are answered when all are there.
      if (server.requests.length > 1) await expect.poll(() => server.peakRequests).toBe(5);
      return root.get(path.slice(1));
    },
  });
  const lengths = await page.evaluate(async (url) => {
    const storage = window.orbax.httpStorage(url);
    await storage.read("run/d/0a", { range: { offset: 0, length: 1 } });
    const offsets = [0, 10, 20, 30, 70_000, 140_000, 210_000, 280_000];
    const reads = await Promise.all(offsets.map((offset) => storage.read("run/d/0a", { range: { offset, length: 10 } })));
    return reads.map((bytes) => bytes?.[0]);
  }, server.url);
  expect(lengths).toEqual([0, 10, 20, 30, 70_000, 140_000, 210_000, 280_000].map((offset) => data[offset]));
  expect(server.requests).toHaveLength(6);
  expect(server.peakRequests).toBe(5);
});

test("an abort stops the request, and a stream brings its bytes", async ({ page }) => {
  const server = await serve([{ kind: "hang", afterBytes: 10_000, times: 1 }]);
  const result = await page.evaluate(async (url) => {
    const storage = window.orbax.httpStorage(url);
    const controller = new AbortController();
    const stopped = window.orbax.httpStorage(url, {
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        controller.abort();
        return answer;
      },
    });
    const name = await stopped.read("run/d/0a", controller).catch((error: Error) => error.name);
    let length = 0;
    for await (const piece of storage.stream?.("run/d/0a", { offset: 5, length: 250_000 }) ?? []) length += piece.byteLength;
    return { name, length };
  }, server.url);
  expect(result).toEqual({ name: "AbortError", length: 250_000 });
  await expect.poll(() => server.requests[0]?.aborted).toBe(true);
});

test("lists what the server prints", async ({ page }) => {
  const server = await serve();
  const listing = await page.evaluate((url) => window.orbax.httpStorage(url).list("run/"), server.url);
  expect(listing).toEqual({ files: ["_METADATA"], directories: ["d"] });
});
