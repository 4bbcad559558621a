import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { appPage, type Fault, lfsPointer, type RunningServer, type ServerOptions, s3Error, startServer } from "../../e2e/server/server.mjs";
import { isCheckpointError, type StorageErrorReason } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { indirect, ownFiles } from "../ocdbt/handmade.testing.js";
import { testClock } from "../storage/http/clock.testing.js";
import { createHttpStorage, type HttpStorageOptions } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import { watchAllocations } from "./allocations.testing.js";
import { filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import { handmadeStep } from "./handmadeStep.testing.js";
import { restoredLeaves, sameLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";

// Named after the rows of the list of faults that people reported in public: 28, 32, 35 to 42.

const step = 1200;
const files = filesOfStep("digits", step);
const whole = restoredLeaves((await new OrbaxCheckpointStore(memoryStorage(files)).restore(step)).items);

const record = `/${step}/metadata/metadata`;
const manifest = `/${step}/model/manifest.ocdbt`;
const node = new RegExp(`^/${step}/model/d/`);
const chunks = new RegExp(`^/${step}/model/ocdbt.process_0/d/6772`);

const bytesOf = (pattern: RegExp): Uint8Array => [...files].find(([path]) => pattern.test(`/${path}`))?.[1] ?? new Uint8Array();
const otherNode = bytesOf(node).toReversed();
const otherChunks = bytesOf(chunks).toReversed();
const cutChunks = bytesOf(chunks).subarray(0, 50_000);
const cutManifest = bytesOf(/model\/manifest/).subarray(0, 60);

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(faults: readonly Fault[], options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ root: files, faults, ...options });
  running.push(server);
  return server;
}

type Outcome = "right" | "wrong" | { readonly error: unknown };

/** Restores onto a device, in no time for all waiting; no buffer stays. */
async function restoreFrom(server: RunningServer, options: HttpStorageOptions = {}): Promise<Outcome> {
  const device = new FakeDevice();
  const store = new OrbaxCheckpointStore(createHttpStorage(server.url, options, testClock()));
  const outcome: Outcome = await store.restore(step, { device: device.gpu, enableX64: true }).then(
    (checkpoint) => {
      const isRight = sameLeaves(restoredLeaves(checkpoint.items), whole);
      checkpoint.destroy();
      return isRight ? "right" : "wrong";
    },
    (error: unknown) => ({ error }),
  );
  expect(device.alive).toEqual([]);
  return outcome;
}

interface RightCase {
  readonly row: string;
  readonly faults: readonly Fault[];
  readonly options?: HttpStorageOptions;
}

const right: readonly RightCase[] = [
  { row: "35: the server ignores ranges", faults: [{ kind: "ignore-range" }] },
  { row: "36: it compresses what it sends", faults: [{ kind: "gzip" }] },
  { row: "36: it compresses parts", faults: [{ kind: "gzip", of: "part", ranged: true }] },
  { row: "36: it takes parts of the compressed file", faults: [{ kind: "gzip", of: "file", ranged: true }] },
  { row: "37: it hides its headers", faults: [{ kind: "hide-headers" }] },
  { row: "37: it hides its headers and ignores ranges", faults: [{ kind: "hide-headers" }, { kind: "ignore-range" }] },
  { row: "38: it refuses preflights", faults: [{ kind: "no-preflight" }] },
  {
    row: "44: each file's connection is cut once",
    faults: [...files.keys()].map((path) => ({ kind: "cut", afterBytes: 100, path: `/${path}`, times: 1 })),
  },
  { row: "44: connections are cut before an answer", faults: [{ kind: "cut", afterBytes: 0, times: 4 }] },
  { row: "43: it is busy", faults: [{ kind: "status", status: 429, retryAfter: 1, times: 3 }] },
  { row: "43: it fails now and then", faults: [{ kind: "status", status: 503, times: 3 }] },
  { row: "40: it sends parts too short", faults: [{ kind: "short", by: 1, ranged: true, times: 3 }] },
  { row: "40: it says 416 to ranges that are there", faults: [{ kind: "status", status: 416, ranged: true }] },
  { row: "40: it moves parts", faults: [{ kind: "shift", by: 1, ranged: true }] },
  { row: "39: the manifest is replaced once it was read", faults: [{ kind: "replace", path: manifest, bytes: cutManifest, after: 1 }] },
];

describe("the right checkpoint comes from a server, though", () => {
  it.each(right)("$row", async ({ faults, options }) => {
    const server = await serve(faults);
    expect(await restoreFrom(server, options)).toBe("right");
    expect(server.requests.map(({ method }) => method)).not.toContain("OPTIONS");
  });
});

interface RefusedCase {
  readonly row: string;
  readonly faults: readonly Fault[];
  readonly options?: HttpStorageOptions;
  readonly kind: "Storage" | "Corrupt" | "NotFound" | "Unsupported";
  readonly reason?: StorageErrorReason;
  /** What the message must say: what to do. */
  readonly says: RegExp;
}

const html = { kind: "body", body: appPage } as const;
const lfs = { kind: "body", body: lfsPointer(61966), contentType: "text/plain" } as const;
const xml = { kind: "body", body: s3Error("AccessDenied"), contentType: "application/xml" } as const;

const refusals: readonly RefusedCase[] = [
  {
    row: "28: a pointer of Git LFS stands for the record",
    faults: [{ ...lfs, path: record }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /git lfs pull/,
  },
  { row: "28: for the manifest", faults: [{ ...lfs, path: manifest }], kind: "Storage", reason: "not-a-checkpoint", says: /git lfs pull/ },
  { row: "28: for a node", faults: [{ ...lfs, path: node }], kind: "Storage", reason: "not-a-checkpoint", says: /git lfs pull/ },
  { row: "28: for chunks", faults: [{ ...lfs, path: chunks }], kind: "Storage", reason: "not-a-checkpoint", says: /git lfs pull/ },
  {
    row: "28: for chunks, in parts",
    faults: [{ ...lfs, path: chunks, ranges: true }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /git lfs pull/,
  },
  {
    row: "28: an HTML page stands for the manifest",
    faults: [{ ...html, path: manifest }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /raw files/,
  },
  { row: "28: for chunks", faults: [{ ...html, path: chunks }], kind: "Storage", reason: "not-a-checkpoint", says: /raw files/ },
  {
    row: "28: for chunks, in parts",
    faults: [{ ...html, path: chunks, ranges: true }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /raw files/,
  },
  { row: "28: for everything, as apps answer what they do not know", faults: [html], kind: "NotFound", says: /step 1200 under http/ },
  {
    row: "28: for everything, without a media type",
    faults: [{ ...html, contentType: "" }],
    kind: "NotFound",
    says: /step 1200 under http/,
  },
  {
    row: "28: an object store's error stands for the record",
    faults: [{ ...xml, path: record }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /bucket, path and rights/,
  },
  {
    row: "28: for chunks",
    faults: [{ ...xml, path: chunks }],
    kind: "Storage",
    reason: "not-a-checkpoint",
    says: /bucket, path and rights/,
  },
  {
    row: "32: there is nothing at the address",
    faults: [{ kind: "status", status: 404 }],
    kind: "NotFound",
    says: /step 1200 under http.*check the step and the address/,
  },
  {
    row: "32: there is no such item",
    faults: [{ kind: "status", status: 404, path: /model/ }],
    kind: "Corrupt",
    says: /1200\/model\/_METADATA.*dot-files and folders included/,
  },
  {
    row: "32: the data files are not there",
    faults: [{ kind: "status", status: 404, path: /\/d\// }],
    kind: "Corrupt",
    says: /1200\/\w+\/d\/.*ocdbt.process_/,
  },
  {
    row: "32: one data file is not there",
    faults: [{ kind: "status", status: 404, path: chunks }],
    kind: "Corrupt",
    says: /1200\/model\/ocdbt.process_0\/d\/6772.*copy the checkpoint again/,
  },
  {
    row: "35: ranges are ignored, and files are large",
    faults: [{ kind: "ignore-range" }],
    options: { wholeFileBytes: 10_000 },
    kind: "Storage",
    reason: "no-ranges",
    says: /Range support/,
  },
  {
    row: "36: parts are compressed, and files are large",
    faults: [{ kind: "gzip", of: "part", ranged: true }],
    options: { wholeFileBytes: 10_000 },
    kind: "Storage",
    reason: "encoding",
    says: /compression off/,
  },
  {
    row: "36: parts are compressed in secret",
    faults: [{ kind: "gzip", of: "part", ranged: true, hidden: true }],
    kind: "Corrupt",
    says: /copy the checkpoint again/,
  },
  {
    row: "36: everything is compressed in secret",
    faults: [{ kind: "gzip", hidden: true }],
    kind: "Corrupt",
    says: /damaged or incomplete/,
  },
  {
    row: "39: a node is another's",
    faults: [{ kind: "replace", path: node, bytes: otherNode }],
    kind: "Corrupt",
    says: /a B\+tree node.*copy the checkpoint again/,
  },
  {
    row: "39: the manifest is cut",
    faults: [{ kind: "replace", path: manifest, bytes: cutManifest }],
    kind: "Corrupt",
    says: /copy the checkpoint again/,
  },
  {
    row: "39: a file becomes another's while it is read",
    faults: [
      { kind: "cut", afterBytes: 20_000, path: chunks, times: 1 },
      { kind: "replace", path: chunks, bytes: otherChunks, after: 1 },
    ],
    kind: "Corrupt",
    says: /6772.*copy the checkpoint again/,
  },
  {
    row: "40: the file ends before the range",
    faults: [{ kind: "replace", path: chunks, bytes: cutChunks }],
    kind: "Storage",
    reason: "length",
    says: /copy the checkpoint again/,
  },
  {
    row: "40: the server says 416 to everything",
    faults: [{ kind: "status", status: 416, path: chunks }],
    kind: "Storage",
    reason: "status",
    says: /open the address/,
  },
  {
    row: "40: parts are too short",
    faults: [{ kind: "short", by: 1, path: chunks }],
    kind: "Storage",
    reason: "length",
    says: /copy the checkpoint again/,
  },
  {
    row: "40: parts are too long",
    faults: [{ kind: "long", by: 1, path: chunks }],
    kind: "Storage",
    reason: "length",
    says: /copy the checkpoint again/,
  },
  { row: "41: 401", faults: [{ kind: "status", status: 401 }], kind: "Storage", reason: "status", says: /httpStorage's headers/ },
  {
    row: "41: 403, also for what is absent",
    faults: [{ kind: "status", status: 403, path: "/1200/dtypes/metadata" }],
    kind: "Storage",
    reason: "status",
    says: /absentStatus: \[403\]/,
  },
  { row: "43: 429 without end", faults: [{ kind: "status", status: 429 }], kind: "Storage", reason: "status", says: /fewer requests/ },
  {
    row: "43: 500 without end",
    faults: [{ kind: "status", status: 500, path: chunks }],
    kind: "Storage",
    reason: "status",
    says: /try again later/,
  },
  {
    row: "44: the connection is cut each time",
    faults: [{ kind: "cut", afterBytes: 100, path: chunks }],
    kind: "Storage",
    reason: "network",
    says: /try again/,
  },
  { row: "44: no answer", faults: [{ kind: "cut", afterBytes: 0 }], kind: "Storage", reason: "network", says: /check the address/ },
  {
    row: "44: the server hangs",
    faults: [{ kind: "hang", afterBytes: 1000, path: chunks }],
    options: { idleTimeoutMs: 500, retries: 0 },
    kind: "Storage",
    reason: "network",
    says: /try again/,
  },
];

describe("an error says what to do where", () => {
  it.each(refusals)("$row", async ({ faults, options, kind, reason, says }) => {
    const outcome = await restoreFrom(await serve(faults), options);
    const error = typeof outcome === "string" ? outcome : outcome.error;
    expect(isCheckpointError(error, kind), `${error}`).toBe(true);
    if (reason !== undefined) expect(error).toMatchObject({ reason });
    expect(String(error)).toMatch(says);
  });
});

describe("further, of a server", () => {
  it("35: that ignores ranges no file is taken twice", async () => {
    const server = await serve([{ kind: "ignore-range" }]);
    expect(await restoreFrom(server)).toBe("right");
    expect(new Set(server.requests.map(({ path }) => path)).size).toBe(server.requests.length);
  });

  it("39: whose file changed meanwhile all is opened and read once more, and no buffer of before stays", async () => {
    const server = await serve([
      { kind: "cut", afterBytes: 20_000, path: chunks, times: 1 },
      { kind: "replace", path: chunks, bytes: otherChunks, times: 1 },
    ]);
    expect(await restoreFrom(server)).toBe("right");
    expect(server.requests.filter(({ path }) => path === record)).toHaveLength(2);
  });

  it("39: whose records change is asked for them each time", async () => {
    const server = await serve([], { root: join(fixtureFolder, "digits/checkpoints") }); // files on disk have an ETag
    const store = new OrbaxCheckpointStore(server.url);
    const { epoch } = await store.readMetadata(step);
    const text = new TextDecoder().decode(files.get(record.slice(1))).replace(`"epoch": ${epoch}`, '"epoch": 999');
    server.addFault({ kind: "replace", path: record, bytes: new TextEncoder().encode(text) });
    expect(await store.readMetadata(step)).toMatchObject({ epoch: 999 });
  });

  it("39: whose file changes again and again is an error", async () => {
    const server = await serve([{ kind: "cut", afterBytes: 20_000, path: chunks }]);
    let version = 0;
    const fetchOther = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      const headers = new Headers(response.headers);
      if (chunks.test(new URL(url).pathname)) headers.set("etag", `"${version++}"`);
      return new Response(response.body, { status: response.status, headers });
    };
    const outcome = await restoreFrom(server, { fetch: fetchOther });
    expect(outcome).toMatchObject({ error: { reason: "changed", message: expect.stringMatching(/open the checkpoint again/) } });
    expect(server.requests.filter(({ path }) => path === record)).toHaveLength(2);
  });

  it("41: that answers 403 for what is absent, where the storage is told so", async () => {
    const server = await serve([{ kind: "status", status: 403, path: /dtypes/ }]);
    expect(await restoreFrom(server, { absentStatus: [403] })).toBe("right");
  });

  it.each(["python", "nginx", "apache"] as const)("42: that lists folders as %s does the steps are known", async (index) => {
    const server = await serve([], { root: join(fixtureFolder, "metrics/checkpoints"), index });
    const store = new OrbaxCheckpointStore(server.url);
    expect(await store.listSteps()).toEqual([1, 2, 3, 5, 8, 13]);
    expect(await store.latestStep()).toBe(13);
    expect(await store.bestStep("loss")).not.toBeNull();
  });

  it.each([
    ["404", {}, []],
    ["403", {}, [{ kind: "status", status: 403, path: "/" }]],
    ["an app's page", {}, [{ ...html, path: "/" }]],
  ] as const)("42: that answers %s to the folder the error says to give a step, and that works", async (_, options, faults) => {
    const server = await serve(faults, { index: "none", ...options });
    const store = new OrbaxCheckpointStore(createHttpStorage(server.url, {}, testClock()));
    for (const call of [() => store.listSteps(), () => store.latestStep(), () => store.bestStep("loss")]) {
      await expect(call()).rejects.toMatchObject({
        reason: "cannot-list",
        message: expect.stringMatching(/name the step instead of listing/),
      });
    }
    expect(await restoreFrom(server)).toBe("right");
    await expect(store.restore(7)).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: 7, directory: server.url });
  });

  it.each([record, manifest, `/${step}/rng/_METADATA`, `/${step}/dtypes/metadata`, `/${step}/data_iterator/_strings.json`])(
    "whose %s has no end the rest is not waited for",
    async (path) => {
      async function* endless() {
        for (;;) yield new Uint8Array(2 ** 16).fill(0x20);
      }
      const file = { size: 2 ** 40, read: endless };
      const root = (asked: string) => (asked === path ? file : files.get(asked.slice(1)));
      const server = await serve([], { root });
      const { value, largest } = await watchAllocations(() => restoreFrom(server));
      const error = typeof value === "string" ? value : value.error;
      expect(error).toMatchObject({
        name: "StorageError",
        reason: "length",
        message: expect.stringMatching(/more than the \d+ bytes.*check/),
      });
      expect(largest).toBeLessThan(2 ** 20);
    },
  );

  it("chunks that overlap are each read on their own, and leave no connection open", async () => {
    const length = 2 * 2 ** 20;
    const count = 12;
    const chunks = Object.fromEntries(Array.from({ length: count }, (_, index) => [index, indirect(BigInt(index * 100), BigInt(length))]));
    const array = { zarray: { shape: [count * length], chunks: [length], dtype: "|u1" }, chunks };
    const bytes = Uint8Array.from({ length: 2 * length }, (_, index) => index % 251);
    const root = handmadeStep({ w: array }, { table: ownFiles("d/x"), files: { "1/model/d/x": bytes } });
    const server = await serve([], { root });
    const { items } = await new OrbaxCheckpointStore(server.url, { readConcurrentBytes: 2 ** 20 }).restore(1);
    const [leaf] = restoredLeaves(items);
    const expected = Buffer.concat(Array.from({ length: count }, (_, index) => bytes.subarray(index * 100, index * 100 + length)));
    expect(Buffer.compare(leaf?.bytes ?? new Uint8Array(), expected)).toBe(0);
  });

  it("no secret of the address stands in an error", async () => {
    const server = await serve([{ kind: "status", status: 404 }]);
    const address = new URL(server.url);
    address.username = "someone";
    address.password = "secret";
    address.search = "?token=secret";
    const error = await new OrbaxCheckpointStore(address).restore(step).catch((caught: unknown) => caught);
    expect(isCheckpointError(error, "NotFound")).toBe(true);
    expect(String(error)).not.toMatch(/someone|secret/);
  });
});
