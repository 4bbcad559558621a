import { afterEach, describe, expect, test } from "vitest";
import { appPage, type Fault, lfsPointer, type RunningServer, type ServerOptions, s3Error, startServer } from "../../e2e/server/server.mjs";
import type { ByteRange } from "../bytes/ranges.js";
import { testClock } from "./http/clock.testing.js";
import { createHttpStorage, type HttpStorageOptions } from "./http.js";
import type { ReadableStorage } from "./storage.js";

// Named after the rows of the list of faults that people reported in public.

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const data = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31 + (index >> 8)) % 256);
const manifest = data.subarray(100, 400);
const dataPath = `run/d/${"0a".repeat(16)}`;
const root = new Map([
  ["run/manifest.ocdbt", manifest],
  ["run/_METADATA", new TextEncoder().encode('{"tree_metadata":{}}')],
  [dataPath, data],
]);

async function serve(faults: readonly Fault[], options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ root, faults, ...options });
  running.push(server);
  return server;
}

async function open(faults: readonly Fault[], options: HttpStorageOptions = {}) {
  const server = await serve(faults);
  const clock = testClock();
  return { server, clock, storage: createHttpStorage(server.url, options, clock) };
}

const part = (range: ByteRange) => data.subarray(range.offset, range.offset + range.length);
const same = (received: Uint8Array | undefined, expected: Uint8Array) => received !== undefined && Buffer.compare(received, expected) === 0;
const early = { offset: 0, length: 1000 };
const middle = { offset: 100_000, length: 50_000 };
const late = { offset: 299_000, length: 1000 };

async function streamed(storage: ReadableStorage, range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of storage.stream?.(dataPath, range, { signal }) ?? []) pieces.push(piece.slice());
  return Buffer.concat(pieces);
}

describe("28: something else than the file", () => {
  const cases: [string, Fault, RegExp][] = [
    ["a Git LFS pointer", { kind: "body", body: lfsPointer(9), contentType: "text/plain", ranges: true }, /git lfs pull/],
    ["an HTML page", { kind: "body", body: appPage, path: /^\/run/ }, /HTML page instead of the file/],
    ["an HTML page in parts", { kind: "body", body: appPage, path: /^\/run/, ranges: true }, /HTML page instead of the file/],
    ["an XML error", { kind: "body", body: s3Error("InternalError"), contentType: "application/xml" }, /XML document/],
    ["a JSON error", { kind: "body", body: '{"error":"rate limited"}', contentType: "application/json" }, /answered with JSON/],
  ];
  for (const [name, fault, message] of cases) {
    test(name, async () => {
      const { storage } = await open([fault]);
      const expected = { name: "StorageError", reason: "not-a-checkpoint", message: expect.stringMatching(message) };
      await expect(storage.read("run/manifest.ocdbt")).rejects.toMatchObject(expected);
      for (const range of [early, middle, late]) {
        await expect(storage.read(dataPath, { range })).rejects.toMatchObject(expected);
        await expect(streamed(storage, range)).rejects.toMatchObject(expected);
      }
    });
  }

  test("JSON files are not taken for JSON errors, and data may look like anything", async () => {
    const page = new TextEncoder().encode("<!doctype html><p>data</p>");
    const files = new Map([
      ["_METADATA", new TextEncoder().encode('{"error":1}')],
      ["d/page", page],
    ]);
    const server = await startServer({ root: files, headers: { "x-content-type-options": "nosniff" } });
    running.push(server);
    const storage = createHttpStorage(server.url, {}, testClock());
    expect(await storage.read("_METADATA")).toEqual(files.get("_METADATA"));
    expect(await storage.read("d/page")).toEqual(page);
    // Sent as a page, but what it begins with is none: one look, then it is trusted.
    server.addFault({ kind: "body", body: data, contentType: "text/html", path: "/d/odd", ranges: true });
    for (const range of [middle, late]) expect(same(await storage.read("d/odd", { range }), part(range))).toBe(true);
    expect(server.requests.filter(({ path }) => path === "/d/odd")).toHaveLength(4);
  });

  test("a host that answers its page for all that it has not: the file is absent", async () => {
    const { server, storage } = await open([{ kind: "body", body: appPage, path: /^\/(?!run\/(manifest|_METADATA|d\/))/ }]);
    expect(await storage.read("run/_strings.json")).toBeUndefined();
    expect(await storage.read("run/zarr.json")).toBeUndefined();
    expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
    // The host was asked once how it answers for what cannot be there.
    expect(server.requests).toHaveLength(4);
    await expect(storage.list("run/")).rejects.toMatchObject({ reason: "cannot-list" });
  });

  test("a page that a redirect leads to, such as a sign-in, is never an absent file", async () => {
    const { storage } = await open([
      { kind: "redirect", path: /^\/run/, location: "/login" },
      { kind: "body", body: appPage, path: /^\/(login|absent)/ },
    ]);
    await expect(storage.read("run/_METADATA")).rejects.toMatchObject({
      reason: "not-a-checkpoint",
      message: expect.stringMatching(/sign-in/),
    });
  });
});

describe("35: the server ignores ranges", () => {
  test("the file is taken whole once, and later ranges ask nothing", async () => {
    const { server, storage } = await open([{ kind: "ignore-range" }]);
    const ranges = [early, middle, late];
    const reads = await Promise.all(ranges.map((range) => storage.read(dataPath, { range })));
    for (const [index, range] of ranges.entries()) expect(same(reads[index], part(range))).toBe(true);
    expect(same(await storage.read(dataPath, { range: { offset: 7, length: 9 } }), part({ offset: 7, length: 9 }))).toBe(true);
    expect(same(await streamed(storage, middle), part(middle))).toBe(true);
    expect(same(await storage.read(dataPath), data)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  test("too large a file is refused at once, and the message says what to do", async () => {
    const { server, storage } = await open([{ kind: "ignore-range" }], { wholeFileBytes: 100_000 });
    await expect(storage.read(dataPath, { range: early })).rejects.toMatchObject({
      name: "StorageError",
      reason: "no-ranges",
      message: expect.stringMatching(/nginx.*wholeFileBytes/),
    });
    await expect(streamed(storage, early)).rejects.toMatchObject({ reason: "no-ranges" });
    expect(server.requests).toHaveLength(2);
  });

  test("too large a file of unknown length is refused as soon as it shows", async () => {
    const storage = createHttpStorage(
      "https://example.org/",
      { wholeFileBytes: 1000, fetch: async () => new Response(new Blob([data]).stream()) },
      testClock(),
    );
    await expect(storage.read(dataPath, { range: early })).rejects.toMatchObject({ reason: "no-ranges" });
  });

  test("only so much is kept", async () => {
    const files = new Map(["a", "b", "c"].map((name) => [name, data]));
    const server = await startServer({ root: files, faults: [{ kind: "ignore-range" }] });
    running.push(server);
    const storage = createHttpStorage(server.url, { wholeFileBytes: 700_000 }, testClock());
    for (const path of ["a", "b", "a", "c", "a", "b"]) expect(same(await storage.read(path, { range: late }), part(late))).toBe(true);
    expect(server.requests.map(({ path }) => path)).toEqual(["/a", "/b", "/c", "/b"]);
  });

  test("a reader that aborts leaves the others their file, and the last one stops it", async () => {
    const slow: Fault[] = [{ kind: "ignore-range" }, { kind: "slow", bytesPerSecond: 3_000_000 }];
    let answered = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const { server, storage } = await open(slow, { fetch: (url, init) => fetch(url, init).finally(answered) });
    const first = new AbortController();
    const reads = Promise.allSettled([
      storage.read(dataPath, { range: early, signal: first.signal }),
      storage.read(dataPath, { range: late }),
    ]);
    await isAnswered;
    // Whoever waits for the answer joins what it began first.
    await new Promise((resolve) => setTimeout(resolve));
    first.abort(new Error("enough"));
    const [aborted, read] = await reads;
    expect(aborted).toMatchObject({ status: "rejected", reason: { message: "enough" } });
    expect(read?.status === "fulfilled" && same(read.value, part(late))).toBe(true);
    expect(server.requests).toHaveLength(1);

    const both = new AbortController();
    const other = createHttpStorage(server.url, {}, testClock());
    const pending = Promise.allSettled([early, late].map((range) => other.read(dataPath, { range, signal: both.signal })));
    await until(() => (server.requests[1]?.bytes ?? 0) > 0);
    both.abort(new Error("enough"));
    expect((await pending).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await until(() => server.requests[1]?.aborted === true);
    // Nothing of the abandoned attempt remains.
    server.clearFaults();
    expect(same(await other.read(dataPath, { range: late }), part(late))).toBe(true);
  });

  test("although it says that it knows them: each file is taken whole once, whoever asks at the same time", async () => {
    const begun: string[] = [];
    const given: string[] = [];
    const fetch = async (url: string) => {
      const path = new URL(url).pathname;
      begun.push(path);
      let at = 0;
      const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => {
        if (at === data.length) {
          given.push(path);
          return stream.close();
        }
        stream.enqueue(data.slice(at, at + 50_000));
        at += 50_000;
      };
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), { headers: { "accept-ranges": "bytes" } });
    };
    const storage = createHttpStorage("https://example.org/", { fetch }, testClock());
    await storage.read("small");
    const far = [early, middle, late, { offset: 230_000, length: 10 }];
    const reads = ["a", "b"].flatMap((path) => far.map(async (range) => same(await storage.read(path, { range }), part(range))));
    expect(new Set(await Promise.all(reads))).toEqual(new Set([true]));
    expect(given.sort()).toEqual(["/a", "/b", "/small"]);
    const before = begun.length;
    expect(same(await storage.read("a", { range: { offset: 7, length: 9 } }), part({ offset: 7, length: 9 }))).toBe(true);
    expect(begun.length).toBe(before);
  });
});

describe("36: the server compresses parts", () => {
  test("the file is taken whole instead, once", async () => {
    const { server, storage } = await open([{ kind: "gzip" }]);
    for (const range of [early, middle, late]) expect(same(await storage.read(dataPath, { range }), part(range))).toBe(true);
    expect(same(await streamed(storage, late), part(late))).toBe(true);
    expect(server.requests.map(({ range, status }) => [range !== undefined, status])).toEqual([
      [true, 206],
      [false, 200],
    ]);
  });

  test("too large a file is refused, and the message says what to do", async () => {
    const { storage } = await open([{ kind: "gzip" }], { wholeFileBytes: 100_000 });
    await expect(storage.read(dataPath, { range: early })).rejects.toMatchObject({
      reason: "encoding",
      message: expect.stringMatching(/octet-stream.*wholeFileBytes/),
    });
  });

  test("a compression that the page may not see shows in bodies that break or have another length", async () => {
    for (const body of [broken, unanswered, () => data.subarray(0, 10), () => data]) {
      let requests = 0;
      const storage = createHttpStorage(
        "https://example.org/",
        {
          retries: 1,
          async fetch(_, init) {
            requests += 1;
            return new Headers(init.headers).has("range") ? new Response(body(), { status: 206 }) : new Response(data);
          },
        },
        testClock(),
      );
      expect(same(await storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
      expect(requests).toBeLessThanOrEqual(3);
      expect(same(await storage.read(dataPath, { range: late }), part(late))).toBe(true);
    }
  });

  test("a stream takes the whole file instead where no byte of such a body came", async () => {
    for (const body of [broken, unanswered]) {
      const storage = createHttpStorage(
        "https://example.org/",
        {
          retries: 1,
          fetch: async (_, init) => (new Headers(init.headers).has("range") ? new Response(body(), { status: 206 }) : new Response(data)),
        },
        testClock(),
      );
      const pieces: Uint8Array[] = [];
      for await (const piece of storage.stream?.(dataPath, middle) ?? []) pieces.push(piece.slice());
      expect(same(Uint8Array.from(Buffer.concat(pieces)), part(middle))).toBe(true);
    }
  });
});

test("37: hidden headers are not needed", async () => {
  const { server, storage } = await open([{ kind: "hide-headers" }]);
  for (const range of [early, middle, late]) expect(same(await storage.read(dataPath, { range }), part(range))).toBe(true);
  expect(same(await streamed(storage, middle), part(middle))).toBe(true);
  expect(server.requests).toHaveLength(4);
  await expect(storage.read(dataPath, { range: { offset: 299_999, length: 2 } })).rejects.toMatchObject({ reason: "length" });
});

test("38: nothing needs a preflight, so a server that refuses them is good", async () => {
  const { server, storage } = await open([{ kind: "no-preflight" }]);
  expect(same(await storage.read(dataPath, { range: late }), part(late))).toBe(true);
  expect(server.requests.map(({ method, range }) => [method, range])).toEqual([["GET", "bytes=299000-299999"]]);
});

describe("39: the file changes between two reads", () => {
  const other = data.slice().reverse();
  const swap = (etag: boolean): Fault => ({ kind: "replace", bytes: other, etag, path: `/${dataPath}`, after: 1 });

  test("another ETag is an error, also between a part and the whole, and a snapshot sees the new version", async () => {
    const { storage } = await open([swap(true)]);
    expect(same(await storage.read(dataPath, { range: early }), part(early))).toBe(true);
    const expected = { name: "StorageError", reason: "changed", message: expect.stringMatching(/open the checkpoint again/) };
    await expect(storage.read(dataPath, { range: late })).rejects.toMatchObject(expected);
    await expect(streamed(storage, late)).rejects.toMatchObject(expected);
    await expect(storage.read(dataPath)).rejects.toMatchObject(expected);
    const again = storage.snapshot?.();
    expect(same(await again?.read(dataPath, { range: early }), other.subarray(0, 1000))).toBe(true);
    expect(same(await again?.read(dataPath), other)).toBe(true);
  });

  test("another version within one read, after a broken connection, is an error too", async () => {
    for (const range of [middle, undefined]) {
      const { storage } = await open([{ kind: "cut", afterBytes: 10_000, times: 1 }, swap(true)]);
      await expect(storage.read(dataPath, { range })).rejects.toMatchObject({ reason: "changed" });
    }
  });

  test("another size shows also where there is no ETag; the same size without any header does not", async () => {
    const { server, storage } = await open([{ kind: "replace", bytes: data.subarray(0, 299_500), etag: false, after: 1 }]);
    expect(same(await storage.read(dataPath, { range: early }), part(early))).toBe(true);
    await expect(storage.read(dataPath, { range: middle })).rejects.toMatchObject({ reason: "changed" });
    server.clearFaults();
    expect(same(await storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
  });

  test("weak ETags are not compared, and a compressed file's ETag is its own", async () => {
    const etags = ['W/"a"', 'W/"b"', '"c"', '"c-gzip"', '"c--gzip"', '"c;br"', null];
    let requests = 0;
    const storage = createHttpStorage(
      "https://example.org/",
      {
        async fetch() {
          const etag = etags[requests++ % etags.length];
          return new Response(data.subarray(0, 10), { status: 206, headers: etag ? { etag } : {} });
        },
      },
      testClock(),
    );
    for (const _ of etags) expect(await storage.read("x", { range: { offset: 0, length: 10 } })).toHaveLength(10);
  });
});

describe("40: ranges past the end", () => {
  test("no range is rounded up, and one past the end is a length error with the size", async () => {
    const { server, storage } = await open([]);
    expect(same(await storage.read(dataPath, { range: late }), part(late))).toBe(true);
    expect(server.requests.map(({ range }) => range)).toEqual(["bytes=299000-299999"]);
    for (const range of [
      { offset: 299_999, length: 2 },
      { offset: 300_000, length: 1 },
      { offset: 400_000, length: 10 },
    ]) {
      const expected = { reason: "length", message: expect.stringMatching(/the file has 300000 bytes/) };
      await expect(storage.read(dataPath, { range })).rejects.toMatchObject(expected);
    }
  });

  test("a 416 from a server that is wrong about the size is outdone by the whole file", async () => {
    const { storage } = await open([{ kind: "status", status: 416, ranged: true }]);
    expect(same(await storage.read(dataPath, { range: late }), part(late))).toBe(true);
  });

  test("a large file that is too short", async () => {
    const { storage } = await open([], { wholeFileBytes: 1000 });
    const error = storage.read(dataPath, { range: { offset: 300_000, length: 1 } });
    await expect(error).rejects.toMatchObject({ reason: "length", message: expect.stringMatching(/the file has 300000 bytes/) });
  });

  test("a part that was moved is not taken", async () => {
    const { storage } = await open([{ kind: "shift", by: 3 }]);
    expect(same(await storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
  });
});

describe("41: what is absent, and what is refused", () => {
  test("404 and 410 are absent, and other statuses only where told", async () => {
    for (const status of [404, 410]) {
      const { storage } = await open([{ kind: "status", status }]);
      expect(await storage.read("x")).toBeUndefined();
      expect(await storage.read("x", { range: early })).toBeUndefined();
    }
    const { storage } = await open([{ kind: "status", status: 403 }], { absentStatus: [403] });
    expect(await storage.read("x")).toBeUndefined();
  });

  test("401, 403 and other statuses are errors that say what to do, and are not tried again", async () => {
    const hints: [number, string, RegExp][] = [
      [401, "", /pass them with httpStorage's headers/],
      [403, s3Error("AccessDenied"), /answered 403 \(AccessDenied\).*absentStatus: \[403\]/],
      [400, "<Code>secret 1</Code>", /answered 400; open the address/],
      [451, "", /answered 451/],
      [204, "", /answered 204/],
    ];
    for (const [status, body, message] of hints) {
      const { server, storage } = await open([{ kind: "status", status, body }]);
      const expected = { name: "StorageError", reason: "status", status, url: `${server.url}/x`, message: expect.stringMatching(message) };
      await expect(storage.read("x")).rejects.toMatchObject(expected);
      expect(server.requests).toHaveLength(1);
    }
  });
});

describe("42: listing is optional", () => {
  test("files are read without it, and list says what to do", async () => {
    const noIndex = { index: "none" } as const;
    for (const [faults, options, status] of [
      [[], noIndex, undefined],
      [[{ kind: "status", status: 403, path: /\/$/ }], {}, 403],
      [[{ kind: "body", body: s3Error("x"), contentType: "application/xml", path: /\/$/ }], {}, undefined],
      [[{ kind: "body", body: appPage, path: /\/$/ }], {}, undefined],
    ] as [Fault[], Partial<ServerOptions>, number | undefined][]) {
      const storage = createHttpStorage((await serve(faults, options)).url, {}, testClock());
      expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
      for (const prefix of ["", "run/"]) {
        const expected = { name: "StorageError", reason: "cannot-list", status, message: expect.stringMatching(/name the step/) };
        await expect(storage.list(prefix)).rejects.toMatchObject(expected);
      }
    }
  });

  test("a page without end is not read to its end", async () => {
    const { storage } = await open([{ kind: "body", body: `<title>Index of /</title>${" ".repeat(9 * 1024 * 1024)}`, path: "/" }]);
    await expect(storage.list("")).rejects.toMatchObject({ reason: "cannot-list", message: expect.stringMatching(/longer than/) });
  });

  test("a page that breaks off is asked again", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 50, times: 2 }]);
    expect(await storage.list("")).toEqual({ files: [], directories: ["run"] });
    expect(server.requests).toHaveLength(3);
  });
});

describe("43: passing failures", () => {
  test("408, 429 and 5xx are tried again, with growing random waits", async () => {
    for (const status of [408, 429, 500, 502, 503, 504]) {
      const { server, clock, storage } = await open([{ kind: "status", status, times: 3 }]);
      expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
      expect(server.requests).toHaveLength(4);
      expect(clock.sleeps).toEqual([125, 250, 500]);
    }
  });

  test("in the end it is an error with the status and the tries", async () => {
    const { clock, storage } = await open([{ kind: "status", status: 503 }], { retries: 7 });
    const expected = { reason: "status", status: 503, message: expect.stringMatching(/503 after 8 tries; .*try again later/) };
    await expect(storage.read("run/manifest.ocdbt")).rejects.toMatchObject(expected);
    expect(clock.sleeps).toEqual([125, 250, 500, 1000, 2000, 4000, 4000]);
  });

  test("Retry-After is waited for, in seconds or as a date, up to 30 s", async () => {
    for (const [retryAfter, sleep] of [
      [3, 3000],
      ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
      [3600, 30_000],
      ["soon", 125],
    ] as const) {
      const { clock, storage } = await open([{ kind: "status", status: 429, retryAfter, times: 1 }]);
      expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
      expect(clock.sleeps).toEqual([sleep]);
    }
  });

  test("no answer is tried again, and in the end CORS is named", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 0, times: 2 }]);
    expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
    expect(server.requests).toHaveLength(3);
    await server.close();
    const gone = storage.read("run/_METADATA");
    await expect(gone).rejects.toMatchObject({
      reason: "network",
      message: expect.stringMatching(/after 5 tries.*Access-Control-Allow-Origin.*404/),
    });
    await expect(gone).rejects.toHaveProperty("cause");
  });

  test("a server that hangs is given up after a while, before its headers and within the body", async () => {
    for (const afterBytes of [undefined, 10_000]) {
      const hang: Fault = afterBytes === undefined ? { kind: "hang", times: 1 } : { kind: "hang", afterBytes, times: 1 };
      const { storage } = await open([hang], { idleTimeoutMs: 100 });
      expect(same(await storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
      const stuck = await open([{ kind: "hang" }], { idleTimeoutMs: 20, retries: 1 });
      await expect(stuck.storage.read(dataPath)).rejects.toMatchObject({ reason: "network" });
    }
  });

  test.each([150, 2 ** 31, Number.MAX_SAFE_INTEGER])("a slow server is not given up within %i ms", async (idleTimeoutMs) => {
    const { storage } = await open([{ kind: "slow", bytesPerSecond: 1_000_000 }], { idleTimeoutMs, retries: 0 });
    expect(same(await storage.read(dataPath), data)).toBe(true);
  });
});

describe("44: the connection is cut within the body", () => {
  test("a part goes on where it broke off", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 20_000, times: 2 }]);
    expect(same(await storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
    expect(server.requests.map(({ range }) => range)).toEqual(["bytes=100000-149999", "bytes=120000-149999", "bytes=140000-149999"]);
  });

  test("a stream goes on, too, and no byte comes twice", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 70_000, times: 4 }]);
    expect(same(await streamed(storage, { offset: 0, length: 300_000 }), data)).toBe(true);
    expect(server.requests).toHaveLength(5);
  });

  test("tries that bring 64 KiB do not count", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 66_000 }], { retries: 1 });
    expect(same(await storage.read(dataPath, { range: { offset: 0, length: 300_000 } }), data)).toBe(true);
    expect(server.requests).toHaveLength(5);
  });

  test("a whole file goes on where its parts are given, and starts again where not", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 100_000, times: 1 }]);
    expect(same(await storage.read(dataPath), data)).toBe(true);
    expect(server.requests.map(({ range }) => range)).toEqual([undefined, "bytes=100000-299999"]);
    for (const faults of [[{ kind: "ignore-range" }], [{ kind: "gzip" }], [{ kind: "hide-headers" }]] as Fault[][]) {
      const other = await open([{ kind: "cut", afterBytes: 10_000, times: 1 }, ...faults]);
      expect(same(await other.storage.read(dataPath), data)).toBe(true);
      const ranged = await open([{ kind: "cut", afterBytes: 10_000, times: 1 }, ...faults]);
      expect(same(await ranged.storage.read(dataPath, { range: middle }), part(middle))).toBe(true);
    }
  });

  test("a server that always cuts is an error in the end", async () => {
    const { server, storage } = await open([{ kind: "cut", afterBytes: 1000 }], { retries: 2 });
    const expected = { reason: "network", message: expect.stringMatching(/broke within the file, in 3 tries/) };
    await expect(storage.read(dataPath)).rejects.toMatchObject(expected);
    await expect(storage.read(dataPath, { range: middle })).rejects.toMatchObject(expected);
    expect(server.requests.length).toBeLessThanOrEqual(9);
  });

  test("a body that is too short or too long by the server's own word is a length error", async () => {
    for (const [fault, message] of [
      [{ kind: "short", by: 10 }, /the server sent only 49990 of them/],
      [{ kind: "long", by: 10 }, /the server sent more/],
    ] as [Fault, RegExp][]) {
      const { storage } = await open([fault]);
      const expected = { reason: "length", message: expect.stringMatching(message) };
      await expect(storage.read(dataPath, { range: middle })).rejects.toMatchObject(expected);
      await expect(streamed(storage, middle)).rejects.toMatchObject(expected);
    }
  });
});

describe("46: abort", () => {
  test("stops a request before its answer, within its body, and while it waits to try again", async () => {
    for (const fault of [{ kind: "hang" }, { kind: "hang", afterBytes: 500 }] as Fault[]) {
      for (const range of [undefined, middle]) {
        const { server, storage } = await open([fault]);
        const controller = new AbortController();
        const read = storage.read(dataPath, { range, signal: controller.signal });
        const stream = streamed(storage, middle, controller.signal);
        read.catch(() => undefined);
        stream.catch(() => undefined);
        await until(() => server.requests.length >= 1);
        controller.abort(new Error("enough"));
        await expect(read).rejects.toThrow("enough");
        await expect(stream).rejects.toThrow("enough");
        await until(() => server.requests.every(({ aborted }) => aborted));
      }
    }
    const server = await serve([{ kind: "status", status: 503, retryAfter: 30 }]);
    const { httpStorage } = await import("./http.js");
    const read = httpStorage(server.url).read(dataPath, { signal: AbortSignal.timeout(50) });
    await expect(read).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("a stream that is left early stops its request and makes room for the next", async () => {
    const { server, storage } = await open([{ kind: "slow", bytesPerSecond: 500_000 }], { concurrency: 1 });
    for await (const piece of storage.stream?.(dataPath, middle) ?? []) {
      expect(piece.byteLength).toBeGreaterThan(0);
      break;
    }
    await until(() => server.requests[0]?.aborted === true);
    server.clearFaults();
    expect(same(await storage.read(dataPath, { range: early }), part(early))).toBe(true);
  });

  test("a request that waits for its turn stops at once", async () => {
    const { server, storage } = await open([{ kind: "hang", times: 1 }], { concurrency: 1 });
    const hanging = new AbortController();
    const first = storage.read("run/_METADATA", { signal: hanging.signal });
    first.catch(() => undefined);
    await until(() => server.requests.length === 1);
    await expect(storage.read("run/manifest.ocdbt", { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: "TimeoutError" });
    hanging.abort();
    await expect(first).rejects.toMatchObject({ name: "AbortError" });
    expect(await storage.read("run/manifest.ocdbt")).toEqual(manifest);
  });
});

function unanswered(): never {
  throw new TypeError("Failed to fetch");
}

function broken(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    pull: (controller) => controller.error(new TypeError("Decoding failed")),
  });
}

const until = (condition: () => boolean) => expect.poll(condition, { interval: 5 }).toBe(true);
