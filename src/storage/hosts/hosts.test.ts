import { afterEach, describe, expect, test } from "vitest";
import { gcsHandler } from "../../../e2e/server/gcs.mjs";
import { huggingFaceHandler } from "../../../e2e/server/huggingFace.mjs";
import { s3Handler } from "../../../e2e/server/s3.mjs";
import { type OwnAnswer, type RunningServer, type ServerHandler, type ServerOptions, startServer } from "../../../e2e/server/server.mjs";
import { testStorage } from "../conformance.testing.js";
import { testClock } from "../http/clock.testing.js";
import { createHttpStorage, type HttpStorageOptions } from "../http.js";
import type { ReadableStorage } from "../storage.js";

// On servers that answer as S3, Google Cloud Storage and Hugging Face do.

type Files = ReadonlyMap<string, Uint8Array>;

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(options: Omit<ServerOptions, "index">): Promise<RunningServer> {
  const server = await startServer({ ...options, index: "none" });
  running.push(server);
  return server;
}

const open = (url: string, options: HttpStorageOptions = {}) => createHttpStorage(url, options, testClock());

/** The files below a folder. */
const inFolder = (files: Files, folder: string): Map<string, Uint8Array> =>
  new Map([...files].map(([path, bytes]) => [folder + path, bytes]));

/** A server with a bucket, which may be asked below `/bucket/`. */
const serveS3 = (objects: Files, options: Parameters<typeof s3Handler>[2] = {}, more: Partial<ServerOptions> = {}) =>
  serve({
    root: options.virtualHost ? new Map(objects) : new Map(),
    mounts: options.virtualHost ? {} : { "/bucket/": new Map(objects) },
    handler: s3Handler("bucket", objects, options),
    ...more,
  });

const serveGcs = (objects: Files, options: Parameters<typeof gcsHandler>[2] = {}, more: Partial<ServerOptions> = {}) =>
  serve({
    root: new Map(),
    mounts: { "/storage/v1/b/bucket/o/": new Map(objects) },
    handler: gcsHandler("bucket", objects, options),
    ...more,
  });

const serveHuggingFace = (files: Files, options: Parameters<typeof huggingFaceHandler>[2] = {}, repository = "models/owner/repo") =>
  serve({ root: new Map(), mounts: { "/api/resolve-cache/": new Map(files) }, handler: huggingFaceHandler(repository, files, options) });

const subject = (server: RunningServer, storage: ReadableStorage) => ({ storage, close: () => server.close() });

testStorage("an s3: address", async (files) => {
  const server = await serveS3(inFolder(files, "a b/run/"));
  return subject(server, open("s3://bucket/a b/run", { endpoint: server.url }));
});

testStorage("an S3-alike of pages of three, which does not encode keys, at the root of a virtual host", async (files) => {
  const server = await serveS3(files, { virtualHost: true, encodes: false, pageSize: 3 });
  return subject(server, open(server.url));
});

testStorage("a gs: address", async (files) => {
  const server = await serveGcs(inFolder(files, "a b/run/"), { pageSize: 3 });
  return subject(server, open("gs://bucket/a b/run", { endpoint: server.url }));
});

testStorage("an hf: address, with large files at another host", async (files) => {
  const cdn = await startServer({ root: new Map(inFolder(files, "a b/run/")), index: "none" });
  const options = { cdn: cdn.url, isLarge: (path: string) => /0a$|top/.test(path), pageSize: 3, revision: "refs/pr/1" };
  const server = await serveHuggingFace(inFolder(files, "a b/run/"), options);
  const storage = open("hf://owner/repo@refs/pr/1/a b/run", { endpoint: server.url });
  return { storage, close: () => Promise.all([server.close(), cdn.close()]).then(() => undefined) };
});

/** A host that answers the same to everyone who asks for a list. */
const always =
  (answer: OwnAnswer): ServerHandler =>
  ({ path }) =>
    path.endsWith("-index.json") ? undefined : answer;

const some = new TextEncoder().encode("x");
const steps: Files = new Map(
  ["run/100/model/_METADATA", "run/100/_", "run/200/_", "run/300/_", "run/notes", "running/1"].map((path) => [path, some]),
);
const listed = { files: ["notes"], directories: ["100", "200", "300"] };

/** Paths asked, without what they ask for. */
const pathsOf = (server: RunningServer) => server.requests.map(({ target }) => target.replace(/\?.*/, ""));

describe("S3", () => {
  test("pages are gone through, one request each", async () => {
    const server = await serveS3(steps, { pageSize: 2 });
    expect(await open("s3://bucket/run", { endpoint: server.url }).list("")).toEqual(listed);
    expect(pathsOf(server)).toEqual(["/bucket", "/bucket"]);
    expect(server.requests[1]?.target).toMatch(/continuation-token=1%2B/);
  });

  test("those that know only the first version go on by markers", async () => {
    const server = await serveS3(steps, { pageSize: 1, version: 1 });
    expect(await open("s3://bucket/run", { endpoint: server.url }).list("")).toEqual(listed);
    expect(server.requests).toHaveLength(4);
  });

  test("keys of any characters, and what is no path, left out", async () => {
    const odd = ["a b", "a+b", "ä%20", "&amp;<", "a\u0001", "100/x", "x/../y", ".", "/y", "z//w"];
    const objects = new Map(["run/", ...odd.map((key) => `run/${key}`)].map((key) => [key, some]));
    const expected = { files: ["&amp;<", "a\u0001", "a b", "a+b", "ä%20"], directories: ["100", "x", "z"] };
    for (const encodes of [true, false]) {
      const server = await serveS3(objects, { encodes });
      expect(await open("s3://bucket/run", { endpoint: server.url }).list("")).toEqual(expected);
    }
  });

  test("a bucket that may be read but not listed says so, and absent files are absent where told", async () => {
    const server = await serveS3(steps, { mayList: false });
    const storage = open("s3://bucket/run", { endpoint: server.url, absentStatus: [403] });
    expect(await storage.read("100/_")).toEqual(some);
    expect(await storage.read("100/none")).toBeUndefined();
    await expect(storage.list("")).rejects.toMatchObject({
      reason: "cannot-list",
      message: expect.stringMatching(/name the step.*writeIndex/),
    });
    const strict = open("s3://bucket/run", { endpoint: server.url });
    await expect(strict.read("100/none")).rejects.toMatchObject({
      status: 403,
      message: expect.stringMatching(/AccessDenied.*absentStatus/),
    });
    await expect(strict.list("")).rejects.toMatchObject({ reason: "cannot-list", status: 403 });
    server.resetRequests();
    await expect(strict.list("100/")).rejects.toMatchObject({ reason: "cannot-list" });
    expect(pathsOf(server)).toEqual(["/bucket"]);
  });

  test("a bucket that is not there, and one in another region", async () => {
    const server = await serveS3(steps);
    await expect(open("s3://other/run", { endpoint: server.url }).list("")).rejects.toMatchObject({
      reason: "cannot-list",
      message: expect.stringMatching(/no such bucket/),
    });
    const body = "<Error><Code>PermanentRedirect</Code><Endpoint>bucket.s3.eu-west-1.amazonaws.com</Endpoint></Error>";
    server.addFault({ kind: "status", status: 301, body, contentType: "application/xml" });
    const storage = open("s3://bucket/run", { endpoint: server.url });
    for (const call of [() => storage.list(""), () => storage.read("100/_")])
      await expect(call()).rejects.toMatchObject({
        reason: "status",
        status: 301,
        message: expect.stringMatching(/another region.*region/),
      });
  });

  test("slow down: it is asked again", async () => {
    const server = await serveS3(
      steps,
      {},
      { faults: [{ kind: "status", status: 503, times: 2, body: "<Error><Code>SlowDown</Code></Error>" }] },
    );
    expect(await open("s3://bucket/run", { endpoint: server.url }).list("")).toEqual(listed);
    expect(server.requests).toHaveLength(3);
  });

  test("a list that does not go on is no list", async () => {
    const page = (next: string) =>
      `<ListBucketResult><IsTruncated>true</IsTruncated>${next}<Contents><Key>run/a</Key></Contents></ListBucketResult>`;
    for (const next of ["", "<NextContinuationToken>same</NextContinuationToken>", "<NextMarker>run/a</NextMarker>"]) {
      const server = await serve({ root: new Map(), handler: always({ body: page(next) }) });
      await expect(open("s3://bucket/run", { endpoint: server.url }).list("")).rejects.toMatchObject({
        reason: "cannot-list",
      });
      expect(server.requests.length).toBeLessThanOrEqual(3);
    }
  });

  test("a list without end is not read to its end", async () => {
    for (const contents of ["", "<Contents><Key>run/a</Key></Contents>".repeat(50_000)]) {
      let pages = 0;
      const answer = () => {
        pages += 1;
        return `<ListBucketResult><IsTruncated>true</IsTruncated><NextMarker>${pages}</NextMarker>${contents}</ListBucketResult>`;
      };
      const fetch = async (url: string) =>
        new Response(url.endsWith(".json") ? null : answer(), { status: url.endsWith(".json") ? 404 : 200 });
      await expect(open("s3://bucket/run", { fetch }).list("")).rejects.toMatchObject({
        reason: "cannot-list",
        message: expect.stringMatching(/more than/),
      });
      expect(pages).toBe(contents === "" ? 1000 : 21);
    }
  });

  test("is found by what answers, below a part of the path or at a host of its own, and then asked alone", async () => {
    for (const virtualHost of [false, true]) {
      const server = await serveS3(steps, { virtualHost });
      const storage = open(`${server.url}${virtualHost ? "" : "/bucket"}/run`);
      expect(await storage.read("100/_")).toEqual(some);
      expect(server.requests).toHaveLength(1);
      expect(await storage.list("")).toEqual(listed);
      server.resetRequests();
      expect(await storage.list("100/")).toEqual({ files: ["_"], directories: ["model"] });
      expect(await storage.snapshot?.().list("")).toEqual(listed);
      expect(pathsOf(server)).toEqual(virtualHost ? ["/", "/"] : ["/bucket", "/bucket"]);
    }
  });

  test("a query of the address stays with each request and out of errors", async () => {
    const server = await serveS3(steps, { mayList: false });
    const error = await open(`${server.url}/bucket/run?X-Signature=topsecret`).list("").catch(String);
    expect(error).not.toContain("topsecret");
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.every(({ target }) => target.includes("X-Signature=topsecret"))).toBe(true);
  });
});

describe("Google Cloud Storage", () => {
  test("pages are gone through, and objects asked by one request each", async () => {
    const server = await serveGcs(steps, { pageSize: 2 });
    const storage = open("gs://bucket/run", { endpoint: server.url });
    expect(await storage.list("")).toEqual(listed);
    expect(await storage.read("100/model/_METADATA")).toEqual(some);
    expect(await storage.read("100/model")).toBeUndefined();
    const [first, second, ...objects] = server.requests.map(({ target }) => target);
    expect([first, second].map((target) => target?.replace(/\?.*/, ""))).toEqual(["/storage/v1/b/bucket/o", "/storage/v1/b/bucket/o"]);
    expect(second).toMatch(/pageToken=/);
    expect(objects).toEqual([
      "/storage/v1/b/bucket/o/run%2F100%2Fmodel%2F_METADATA?alt=media",
      "/storage/v1/b/bucket/o/run%2F100%2Fmodel?alt=media",
    ]);
  });

  test("strangers that may not list are told to name the step, without being taken for unknown", async () => {
    const server = await serveGcs(steps, { mayList: false });
    const storage = open("gs://bucket/run", { endpoint: server.url });
    expect(await storage.read("100/_")).toEqual(some);
    await expect(storage.list("")).rejects.toMatchObject({
      reason: "cannot-list",
      status: 401,
      message: expect.stringMatching(/name the step/),
    });
  });

  test("errors name an address that a person can open, and a bucket that is not there is an error", async () => {
    const server = await serveGcs(steps);
    const storage = open("gs://other/run", { endpoint: server.url });
    await expect(storage.list("")).rejects.toMatchObject({ reason: "cannot-list", message: expect.stringMatching(/no such bucket/) });
    server.addFault({ kind: "status", status: 401 });
    await expect(storage.read("100/_")).rejects.toMatchObject({ url: `${server.url}/other/run/100/_`, status: 401 });
  });

  test("answers of another kind are no lists", async () => {
    for (const body of ["", "[]", "null", '{"items":1}', '{"prefixes":[1]}', '{"items":[null]}', '{"items":[{"name":1}]}', "<html>"]) {
      const server = await serve({ root: new Map(), handler: always({ body }) });
      await expect(open("gs://bucket", { endpoint: server.url }).list("")).rejects.toMatchObject({ reason: "cannot-list" });
    }
    const server = await serve({ root: new Map(), handler: always({ body: "{}" }) });
    expect(await open("gs://bucket", { endpoint: server.url }).list("")).toEqual({ files: [], directories: [] });
  });
});

describe("Hugging Face", () => {
  test("pages are gone through by their Link headers", async () => {
    const server = await serveHuggingFace(steps, { pageSize: 2 }, "datasets/owner/repo");
    const storage = open("hf://datasets/owner/repo/run", { endpoint: server.url });
    expect(await storage.list("")).toEqual(listed);
    expect(pathsOf(server)).toEqual(["/api/datasets/owner/repo/tree/main/run", "/api/datasets/owner/repo/tree/main/run"]);
    expect(await storage.list("400/")).toEqual({ files: [], directories: [] });
  });

  test("a token goes to the hub alone: not to where large files are, nor to where a list says it goes on", async () => {
    const cdn = await serve({ root: new Map(steps) });
    const server = await serveHuggingFace(steps, { token: "hf_secret", cdn: cdn.url, isLarge: (path) => path.endsWith("_") });
    const storage = open("hf://owner/repo/run", { endpoint: server.url, headers: async () => ({ authorization: "Bearer hf_secret" }) });
    expect(await storage.list("")).toEqual(listed);
    expect(await storage.read("100/_", { range: { offset: 0, length: 1 } })).toEqual(some);
    expect(await storage.read("100/model/_METADATA")).toEqual(some);
    expect(cdn.requests.map(({ target, headers }) => [target, headers.authorization])).toEqual([
      ["/run/100/_?Expires=1&Signature=cdn-signature", undefined],
    ]);
    const elsewhere = { "content-type": "application/json", link: `<${cdn.url}/api/models/owner/repo/tree/main/run?cursor=1>; rel="next"` };
    const wrong = await serve({ root: new Map(), handler: always({ headers: elsewhere, body: "[]" }) });
    cdn.resetRequests();
    const list = open("hf://owner/repo/run", { endpoint: wrong.url, headers: { "x-key": "k" } }).list("");
    await expect(list).rejects.toMatchObject({ reason: "cannot-list", message: expect.stringMatching(/goes on at another host/) });
    expect(cdn.requests).toEqual([]);
  });

  test("a repository that is hidden from strangers asks for credentials", async () => {
    const server = await serveHuggingFace(steps, { token: "hf_secret" });
    const storage = open("hf://owner/repo/run", { endpoint: server.url });
    for (const call of [() => storage.list(""), () => storage.read("100/_")])
      await expect(call()).rejects.toMatchObject({
        reason: "status",
        status: 401,
        message: expect.stringMatching(/pass them with httpStorage's headers/),
      });
  });

  test("answers of another kind are no lists, and a Link that leads nowhere ends one", async () => {
    for (const body of ["{}", '["x"]', '[{"type":"file"}]', '[{"path":1}]', "oops"]) {
      const server = await serve({ root: new Map(), handler: always({ body }) });
      await expect(open("hf://owner/repo", { endpoint: server.url }).list("")).rejects.toMatchObject({ reason: "cannot-list" });
    }
    for (const link of ["<http://[>; rel=next", '<x>; rel="prev"', "x; rel=next", "<a".repeat(1000)]) {
      const server = await serve({ root: new Map(), handler: always({ headers: { link }, body: "[]" }) });
      expect(await open("hf://owner/repo", { endpoint: server.url }).list("")).toEqual({ files: [], directories: [] });
    }
  });
});

describe("47: a revision that is named", () => {
  test("is what is read and listed, whatever the branch holds by then", async () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const server = await serveHuggingFace(steps, { revision: commit });
    const storage = open(`hf://owner/repo@${commit}/run`, { endpoint: server.url });
    expect(await storage.list("")).toEqual(listed);
    expect(await storage.read("100/_")).toEqual(some);
    expect(server.requests.every(({ path }) => path.includes(commit) || path.startsWith("/api/resolve-cache/"))).toBe(true);
    const branch = open("hf://owner/repo/run", { endpoint: server.url });
    expect(await branch.read("100/_")).toBeUndefined();
  });

  test("else a file that is another one at its second read is an error", async () => {
    const server = await serveHuggingFace(steps);
    const storage = open("hf://owner/repo/run", { endpoint: server.url });
    expect(await storage.read("100/_")).toEqual(some);
    server.addFault({ kind: "replace", path: "/api/resolve-cache/run/100/_", bytes: new TextEncoder().encode("y"), etag: true });
    await expect(storage.read("100/_")).rejects.toMatchObject({ reason: "changed" });
  });
});

test("an abort stops a list between its pages", async () => {
  const server = await serveS3(steps, { pageSize: 1 });
  const controller = new AbortController();
  const reason = new Error("enough");
  const storage = open("s3://bucket/run", {
    endpoint: server.url,
    fetch: (url, init) => {
      if (server.requests.length === 2) controller.abort(reason);
      return fetch(url, init);
    },
  });
  await expect(storage.list("", { signal: controller.signal })).rejects.toBe(reason);
  expect(server.requests.length).toBeLessThanOrEqual(3);
});
