import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { type Fault, type RunningServer, type ServerOptions, startServer } from "../../e2e/server/server.mjs";
import { testStorage } from "./conformance.testing.js";
import { testClock } from "./http/clock.testing.js";
import { createHttpStorage, type HttpStorageOptions, httpStorage } from "./http.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(options: ServerOptions): Promise<RunningServer> {
  const server = await startServer(options);
  running.push(server);
  return server;
}

const storageOf = (server: RunningServer, options: HttpStorageOptions = {}, folder = "") =>
  createHttpStorage(server.url + folder, options, testClock());

const faultSets: Record<string, readonly Fault[]> = {
  "a good server": [],
  "a server that ignores ranges": [{ kind: "ignore-range" }],
  "a server that compresses": [{ kind: "gzip" }],
  "a server that hides its headers": [{ kind: "hide-headers" }],
  "a server that breaks every third connection": [1, 4, 7, 10, 13].map((after) => ({ kind: "cut", afterBytes: 700, times: 1, after })),
};

for (const [name, faults] of Object.entries(faultSets)) {
  testStorage(`httpStorage on ${name}`, async (files) => {
    const server = await startServer({ root: new Map(files), faults });
    return { storage: storageOf(server), close: () => server.close() };
  });
}

for (const index of ["nginx", "apache"] as const) {
  test(`lists what ${index} prints`, async () => {
    const server = await serve({
      root: new Map([
        ["a/b c", bytes(1)],
        ["a/d/e", bytes(1)],
        [`a/${"long".repeat(20)}`, bytes(1)],
      ]),
      index,
    });
    expect(await storageOf(server).list("a/")).toEqual({ files: ["b c", "long".repeat(20)], directories: ["d"] });
  });
}

describe("requests", () => {
  const root = new Map([
    ["run/a", bytes(1000)],
    ["run/b", bytes(10)],
  ]);

  test("nothing is requested before the first read", async () => {
    const server = await serve({ root });
    storageOf(server);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.requests).toEqual([]);
  });

  test("a whole file is one request without Range, a part one with a closed range, and neither needs a preflight", async () => {
    const server = await serve({ root });
    for (const folder of ["/run", "/run/"]) {
      server.resetRequests();
      const storage = storageOf(server, {}, folder);
      expect(await storage.read("a")).toEqual(bytes(1000));
      expect(await storage.read("a", { range: { offset: 5, length: 7 } })).toEqual(bytes(1000).subarray(5, 12));
      expect(server.requests.map(({ target, range }) => [target, range])).toEqual([
        ["/run/a", undefined],
        ["/run/a", "bytes=5-11"],
      ]);
    }
    // The headers that CORS lets pass unasked, and those that fetch adds itself.
    const safe = ["accept", "accept-encoding", "accept-language", "cache-control", "connection", "host", "pragma", "range"];
    const sent = new Set(server.requests.flatMap(({ headers }) => Object.keys(headers)));
    expect([...sent].filter((name) => !safe.includes(name) && !name.startsWith("sec-fetch-") && name !== "user-agent")).toEqual([]);
  });

  test("fetch is asked past the cache, with the options that were given", async () => {
    const inits: RequestInit[] = [];
    const storage = httpStorage("https://example.org/run?sig=1", {
      credentials: "include",
      fetch: async (url, init) => {
        inits.push(init);
        return new Response(url);
      },
    });
    expect(new TextDecoder().decode(await storage.read("d/0"))).toBe("https://example.org/run/d/0?sig=1");
    expect(inits).toMatchObject([{ cache: "no-store", credentials: "include", redirect: "follow" }]);
  });

  test("what others wait for is asked with high priority, streams and the rest of them with low", async () => {
    const file = bytes(500_000);
    const server = await serve({
      root: new Map([["d", file]]),
      faults: [{ kind: "cut", afterBytes: 100_000, path: "/d", times: 1, after: 2 }],
    });
    const asked: string[] = [];
    const storage = httpStorage(server.url, {
      fetch: (url, init) => {
        asked.push(`${init.priority} ${new Headers(init.headers).get("range") ?? "whole"}`);
        return fetch(url, init);
      },
    });
    await storage.read("d", { range: { offset: 0, length: 10 } });
    await storage.read("d");
    for await (const _ of storage.stream?.("d", { offset: 1, length: 400_000 }) ?? []);
    await storage.list("").catch(() => undefined);
    const lists = ["high whole", "high whole"];
    expect(asked).toEqual(["high bytes=0-9", "high whole", "low bytes=1-400000", "low bytes=100001-400000", ...lists]);
  });

  test("43: neighbours asked in one go are one request, at most `concurrency` go at once", async () => {
    const data = bytes(3_000_000);
    const server: RunningServer = await serve({
      root: async () => {
        // Those that may go at once are answered when all are there.
        if (server.requests.length > 1) await expect.poll(() => server.peakRequests, { interval: 1 }).toBe(3);
        return data;
      },
    });
    const storage = storageOf(server, { concurrency: 3 });
    const near = Array.from({ length: 50 }, (_, index) => ({ offset: index * 1000, length: 900 }));
    const far = Array.from({ length: 12 }, (_, index) => ({ offset: 200_000 * (index + 1), length: 10 }));
    const parts = await Promise.all([...near, ...far].map((range) => storage.read("d", { range })));
    for (const [index, { offset, length }] of [...near, ...far].entries()) {
      expect(Buffer.compare(parts[index] ?? bytes(0), data.subarray(offset, offset + length))).toBe(0);
    }
    expect(server.requests).toHaveLength(13);
    expect(server.peakRequests).toBe(3);
  });

  test("an empty range asks nothing", async () => {
    const server = await serve({ root });
    expect(await storageOf(server).read("run/a", { range: { offset: 3, length: 0 } })).toHaveLength(0);
    expect(server.requests).toHaveLength(0);
  });
});

describe("credentials", () => {
  const root = new Map([["a", bytes(10)]]);

  test("headers are sent with each request, and a function is asked each time", async () => {
    const server = await serve({ root });
    let calls = 0;
    const storage = storageOf(server, { headers: async () => ({ authorization: `Bearer ${++calls}` }) });
    await storage.read("a");
    await storage.read("a", { range: { offset: 0, length: 1 } });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"]);
  });

  test("headers may be of another make", async () => {
    const server = await serve({ root });
    const ofAnotherMake = {
      forEach: () => {},
      *[Symbol.iterator]() {
        yield ["authorization", "Bearer other"];
      },
    };
    await storageOf(server, { headers: ofAnotherMake as unknown as Headers }).read("a");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer other");
  });

  test("user and password of the URL become a header, and its query stays with every request", async () => {
    const server = await serve({ root });
    const url = server.url.replace("//", "//me:s%C3%A9cret@");
    const storage = createHttpStorage(`${url}/?X-Signature=topsecret#here`, {}, testClock());
    expect(await storage.read("a")).toEqual(bytes(10));
    expect(server.requests[0]).toMatchObject({ target: "/a?X-Signature=topsecret" });
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("me:sécret").toString("base64")}`);
    expect(storage.name).toBe(server.url);
  });

  test("they do not show in errors", async () => {
    const server = await serve({ root, faults: [{ kind: "status", status: 403 }] });
    const url = `${server.url.replace("//", "//me:hunter2@")}/?sig=topsecret`;
    const failing = createHttpStorage(url, { headers: { "x-key": "alsosecret" }, retries: 0 }, testClock());
    const echoing = createHttpStorage(
      url,
      {
        retries: 0,
        fetch: async (asked) => {
          throw new TypeError(`cannot fetch ${asked}`);
        },
      },
      testClock(),
    );
    for (const storage of [failing, echoing]) {
      const error = await storage.read("a").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "StorageError", url: `${server.url}/a` });
      const shown = [error, (error as Error).cause].map((value) => `${value} ${JSON.stringify(value)}`).join();
      expect(shown).not.toMatch(/hunter2|topsecret|alsosecret/);
    }
  });

  test("they stay with their origin when a redirect leads elsewhere, and come along when it does not", async () => {
    const other = await serve({ root });
    const server = await serve({
      root: new Map([["moved/a", bytes(10)]]),
      faults: [
        { kind: "redirect", path: "/far/a", location: `${other.url}/a` },
        { kind: "redirect", path: "/near/a", location: "/moved/a", status: 307 },
      ],
    });
    const storage = storageOf(server, { headers: { authorization: "Bearer x", "x-key": "y" } });
    expect(await storage.read("far/a", { range: { offset: 2, length: 3 } })).toEqual(bytes(10).subarray(2, 5));
    expect(other.requests[0]).toMatchObject({ range: "bytes=2-4" });
    expect(other.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(other.requests[0]?.headers).not.toHaveProperty("x-key");
    expect(await storage.read("near/a")).toEqual(bytes(10));
    expect(server.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer x", "x-key": "y" });
  });

  test("a slash that a host puts behind a file's name leads to the file, and behind a folder's to none", async () => {
    const server = await serve({
      root,
      faults: [
        { kind: "redirect", path: "/file", location: "/file/", status: 308 },
        { kind: "redirect", path: "/folder", location: "/folder/", status: 308 },
        { kind: "body", path: "/file/", body: bytes(10), contentType: "application/octet-stream", ranges: true },
        { kind: "body", path: "/folder/", body: "a page", contentType: "text/html" },
      ],
    });
    const storage = storageOf(server);
    expect(await storage.read("file")).toEqual(bytes(10));
    expect(await storage.read("file", { range: { offset: 2, length: 3 } })).toEqual(bytes(10).subarray(2, 5));
    expect(await storage.read("folder")).toBeUndefined();
  });

  test("a redirect without end is an error", async () => {
    const server = await serve({ root, faults: [{ kind: "redirect", location: "/a" }] });
    await expect(storageOf(server, { headers: { "x-key": "y" } }).read("a")).rejects.toMatchObject({ reason: "status", status: 302 });
    await expect(storageOf(server, { retries: 0 }).read("a")).rejects.toMatchObject({ reason: "network" });
  });

  test("a browser that hides redirects is asked once, then follows them itself", async () => {
    const { storage, modes } = hidingRedirects({ Authorization: "Bearer x" });
    await storage.read("a");
    await storage.read("b");
    expect(modes).toEqual(["manual", "follow", "follow"]);
  });

  test("a browser that hides redirects is not asked to follow them with headers that it would carry along", async () => {
    const { storage, modes } = hidingRedirects({ authorization: "Bearer x", "X-Key": "topsecret" });
    for (const path of ["a", "b"]) {
      const error = await storage.read(path).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "StorageError", reason: "status", message: expect.stringMatching(/x-key.*Authorization/) });
      expect(String(error)).not.toContain("topsecret");
    }
    expect(modes).toEqual(["manual", "manual"]);
  });

  test("a header that is none is named, and its value is not", async () => {
    for (const [headers, message] of [
      [{ authorization: "Bearer\ntopsecret" }, /the value of authorization in httpStorage's headers/],
      [{ "x-key": "topsecret 漢" }, /the value of x-key/],
      [{ "topsecret: x": "y" }, /a name in httpStorage's headers/],
    ] as [Record<string, string>, RegExp][]) {
      const storage = httpStorage("https://example.org/run", { headers, fetch: async () => new Response("file") });
      const error = await storage.read("a").catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(message) });
      expect(inspect(error, { depth: 10 })).not.toContain("topsecret");
    }
  });

  test("whatever a fetch of the caller's own throws, before its answer and within it, no secret is shown", async () => {
    const secrets = { url: "https://me:hunter2@example.org/?sig=top%2Fsecret", headers: { "x-key": "alsosecret" } };
    const causes = [
      new Error("x-key: alsosecret"),
      Object.assign(new Error("failed"), { config: { headers: new Headers({ "x-key": "alsosecret" }) } }),
      new Error("failed", { cause: { request: { url: "https://example.org/a?sig=top%2Fsecret" } } }),
      new Error("signed with top/secret"),
      new AggregateError([new Error(`Basic ${btoa("me:hunter2")}`)]),
      "alsosecret",
    ];
    for (const cause of causes) {
      for (const answer of [rejecting(cause), breaking(cause)]) {
        const storage = createHttpStorage(secrets.url, { headers: secrets.headers, retries: 0, fetch: answer }, testClock());
        const error = await storage.read("a").catch((reason: unknown) => reason);
        expect(error).toMatchObject({ name: "StorageError", reason: "network" });
        expect(inspect(error, { depth: 20 })).not.toMatch(/hunter2|alsosecret|top.{1,3}secret|bWU6/);
      }
    }
    const harmless = new TypeError("no route");
    const error = await createHttpStorage(secrets.url, { retries: 0, fetch: rejecting(harmless) }, testClock())
      .read("a")
      .catch(String);
    expect(error).toMatch(/no answer/);
    await expect(createHttpStorage(secrets.url, { retries: 0, fetch: rejecting(harmless) }, testClock()).read("a")).rejects.toHaveProperty(
      "cause",
      harmless,
    );
  });

  test("the query that a redirect leads to is a secret, too", async () => {
    const server = await serve({ root, faults: [{ kind: "redirect", location: "https://example.org/a?Signature=topsecret" }] });
    const storage = storageOf(server, {
      headers: { "x-key": "y-key" },
      retries: 0,
      fetch: (url, init) => (url.startsWith(server.url) ? fetch(url, init) : Promise.reject(new TypeError(`cannot fetch ${url}`))),
    });
    const error = await storage.read("a").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "StorageError", url: `${server.url}/a` });
    expect(inspect(error, { depth: 20 })).not.toContain("topsecret");
  });
});

test("refuses what is no folder's URL, without repeating it, and options out of range", () => {
  for (const url of ["run/10", "/run", "ftp://u:secret@example.org/", "file:///x", ""]) {
    expect(() => httpStorage(url)).toThrow(/absolute http: or https: URL/);
    expect(() => httpStorage(url)).not.toThrow(/secret/);
  }
  expect(() => httpStorage("https://example.org", { concurrency: 0 })).toThrow(/concurrency is an integer from 1, not 0/);
  expect(() => httpStorage("https://example.org", { retries: 1.5 })).toThrow(/retries/);
});

/** A storage on a host that redirects, in a browser that does not show it. */
function hidingRedirects(headers: Record<string, string>) {
  const modes: unknown[] = [];
  const hidden = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
  const fetch = async (_: string, { redirect }: RequestInit) => {
    modes.push(redirect);
    return redirect === "manual" ? hidden : new Response("file");
  };
  return { storage: httpStorage("https://example.org/run", { headers, fetch }), modes };
}

const rejecting = (cause: unknown) => () => Promise.reject(cause);

const breaking = (cause: unknown) => async () => new Response(new ReadableStream({ pull: (controller) => controller.error(cause) }));

function bytes(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) % 256);
}

describe("sizes", () => {
  const root = new Map([["a", bytes(1000)]]);

  test("are told by headers alone, where the server lets nobody ask so by those of a read that is left", async () => {
    const server = await serve({ root });
    expect(await storageOf(server).size?.("a")).toBe(1000);
    expect(await storageOf(server).size?.("nothing")).toBeUndefined();
    expect(server.requests.map(({ method }) => method)).toEqual(["HEAD", "HEAD"]);
    for (const fault of [{ kind: "status", status: 403, times: 1 } as const, { kind: "cut", afterBytes: 0, times: 1 } as const]) {
      server.resetRequests();
      server.addFault(fault);
      expect(await storageOf(server).size?.("a")).toBe(1000);
      expect(server.requests.map(({ method }) => method)).toEqual(["HEAD", "GET"]);
    }
  });
});

describe("facts", () => {
  const root = new Map([
    ["run/a", bytes(1000)],
    ["run/page.html", bytes(10)],
  ]);

  test("are asked for by one HEAD request, without a byte", async () => {
    const server = await serve({ root });
    const storage = storageOf(server, {}, "/run");
    const facts = await storage.facts?.("a");
    expect(facts).toEqual({ etag: expect.stringMatching(/^"/), modified: "Tue, 14 Nov 2023 22:13:20 GMT", size: 1000 });
    expect(await storage.facts?.("nothing")).toBeUndefined();
    expect(await storage.facts?.("")).toEqual({});
    expect(await storage.facts?.("page.html")).toEqual({});
    expect(server.requests.map(({ method, bytes }) => [method, bytes])).toEqual([
      ["HEAD", 0],
      ["HEAD", expect.any(Number)],
      ["HEAD", expect.any(Number)],
      ["HEAD", 0],
    ]);
  });

  test("that answers told are not asked for", async () => {
    const server = await serve({ root });
    const storage = storageOf(server, {}, "/run");
    expect(await storage.facts?.("a", { told: true })).toEqual({});
    await storage.read("a", { range: { offset: 0, length: 10 } });
    expect(await storage.facts?.("a", { told: true })).toEqual({ etag: expect.any(String), modified: expect.any(String), size: 1000 });
    await storage.snapshot?.().read("a");
    expect(server.requests).toHaveLength(2);
  });

  test("that are not to be had are unknown, absent or a failure, by one try", async () => {
    const server = await serve({ root });
    const answerOf = async (status: number, absentStatus: number[] = []) => {
      const remove = server.addFault({ kind: "status", status });
      const facts = storageOf(server, { absentStatus }, "/run").facts?.("a");
      const answer = await facts?.catch((error: unknown) => error);
      remove();
      return answer;
    };
    for (const status of [401, 403, 405, 501])
      expect(await answerOf(status), String(status)).toEqual(status === 501 ? expect.any(Error) : {});
    expect(await answerOf(403, [403])).toBeUndefined();
    expect(await answerOf(410)).toBeUndefined();
    for (const status of [408, 429, 503]) expect(await answerOf(status)).toMatchObject({ reason: "status", status });
    const requests = server.requests.length;
    server.addFault({ kind: "cut", afterBytes: 0 });
    await expect(storageOf(server, {}, "/run").facts?.("a")).rejects.toMatchObject({ reason: "network" });
    expect(server.requests.length).toBe(requests + 1);
    await expect(storageOf(server).facts?.("../a")).rejects.toThrow(/path/);
    await expect(storageOf(server).facts?.("run", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  });
});
