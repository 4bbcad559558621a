import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "./page/test.js";
import { gcsHandler } from "./server/gcs.mjs";
import { huggingFaceHandler } from "./server/huggingFace.mjs";
import { s3Handler } from "./server/s3.mjs";
import { type RunningServer, type ServerOptions, startServer } from "./server/server.mjs";

// Buckets and repositories as a page of another origin meets them: no preflights, hidden redirects, credentials that stay where they belong.

const root = join(import.meta.dirname, "fixtures", "data", "digits", "checkpoints");
const files = new Map(
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [`run/${relative(root, path).split(sep).join("/")}`, new Uint8Array(readFileSync(path))]),
);
const steps = [400, 800, 1200];

const running: RunningServer[] = [];

test.afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(options: Partial<ServerOptions>): Promise<RunningServer> {
  const server = await startServer({ root: new Map(), index: "none", ...options });
  running.push(server);
  return server;
}

const hosts = {
  "s3://bucket/run": { mounts: { "/bucket/": files }, handler: s3Handler("bucket", files, { pageSize: 2 }) },
  "gs://bucket/run": { mounts: { "/storage/v1/b/bucket/o/": files }, handler: gcsHandler("bucket", files, { pageSize: 2 }) },
};

for (const [address, options] of Object.entries(hosts)) {
  test(`${address} is listed and restored without a preflight`, async ({ page }) => {
    const server = await serve(options);
    const found = await page.evaluate(
      async ({ address, endpoint }) => {
        const { httpStorage, OrbaxCheckpointStore } = window.orbax;
        const store = new OrbaxCheckpointStore(httpStorage(address, { endpoint }));
        const listed = await store.listSteps();
        const restored = await store.restore(1200);
        return { listed, step: restored.step };
      },
      { address, endpoint: server.url },
    );
    expect(found).toEqual({ listed: steps, step: 1200 });
    expect(server.requests.map(({ method }) => method)).not.toContain("OPTIONS");
  });
}

test("hf: with a token: pages by Link headers, large files at another host, which sees no token", async ({ page }) => {
  const cdn = await serve({ root: files });
  const isLarge = (path: string) => path.includes("/d/");
  const handler = huggingFaceHandler("models/owner/repo", files, { pageSize: 2, cdn: cdn.url, isLarge, token: "hf_topsecret" });
  const server = await serve({ mounts: { "/api/resolve-cache/": files }, handler });
  const found = await page.evaluate(async (endpoint) => {
    const { httpStorage, OrbaxCheckpointStore } = window.orbax;
    const headers = async () => ({ authorization: "Bearer hf_topsecret" });
    const store = new OrbaxCheckpointStore(httpStorage("hf://owner/repo/run", { endpoint, headers }));
    const listed = await store.listSteps();
    const restored = await store.restore(400);
    return { listed, step: restored.step };
  }, server.url);
  expect(found).toEqual({ listed: steps, step: 400 });
  expect(cdn.requests.length).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test("a header that a browser would carry to another origin is not sent along a redirect", async ({ page }) => {
  const other = await serve({ root: files });
  const location = `${other.url}/run/400/metadata/metadata`;
  const server = await serve({ faults: [{ kind: "redirect", path: "/run/400/metadata/metadata", location }] });
  const error = await page.evaluate(async (url) => {
    const storage = window.orbax.httpStorage(url, { headers: { "X-Key": "topsecret", authorization: "Bearer topsecret" } });
    return storage.read("run/400/metadata/metadata").catch(String);
  }, server.url);
  expect(error).toMatch(/the server redirects.*x-key/);
  expect(error).not.toContain("topsecret");
  expect(other.requests).toEqual([]);
});

test("no credential is in a progress event, a buffer's label, a name or an error", async ({ page }) => {
  const server = await serve({ root: files });
  const url = `${server.url.replace("//", "//me:topsecret@")}/run?signature=topsecret`;
  const shown = await page.evaluate(async (url) => {
    const { httpStorage, isCheckpointError, openCheckpoint, OrbaxCheckpointStore } = window.orbax;
    const device = await window.internals.testDevice();
    const seen: unknown[] = [];
    const { createBuffer } = device;
    device.createBuffer = (descriptor) => {
      seen.push(descriptor.label);
      return createBuffer.call(device, descriptor);
    };
    const storage = httpStorage(url, { headers: async () => ({ "x-key": "topsecret" }) });
    const store = new OrbaxCheckpointStore(storage, { device });
    const checkpoint = await store.restore(400, { onProgress: (event) => seen.push(event) });
    checkpoint.destroy();
    const opened = await openCheckpoint(storage, { step: 400, item: "model" });
    seen.push(storage.name, opened.path, opened.leaves, opened.layout);
    const failures = [
      () => store.restore(5),
      () => store.listSteps(),
      () => storage.read("run/../x"),
      () => storage.read("400/metadata/metadata", { range: { offset: 0, length: 1e9 } }),
      () => openCheckpoint(url, { step: 5 }),
      () => httpStorage(url, { fetch: () => Promise.reject(new Error(`no way to ${url} with topsecret`)), retries: 0 }).read("x"),
    ];
    for (const fail of failures) {
      const error = await fail().then(
        () => "no error",
        (reason: Error) => reason,
      );
      if (!isCheckpointError(error)) throw new Error(`expected one of ours, got ${error}`);
      seen.push(String(error), { ...error }, String(error.cause), error.stack);
    }
    return { text: JSON.stringify(seen), events: seen.length };
  }, url);
  expect(shown.events).toBeGreaterThan(20);
  expect(shown.text).toContain("model");
  expect(shown.text).not.toContain("topsecret");
  expect(shown.text).not.toContain(btoa("me:topsecret"));
});

test("45: nothing of it goes into the Cache API, which takes no parts of files", async ({ page }) => {
  const server = await serve({ root: files });
  const caches = await page.evaluate(async (url) => {
    const restored = await new window.orbax.OrbaxCheckpointStore(url).restore(400);
    return { step: restored.step, names: await window.caches.keys() };
  }, `${server.url}/run`);
  expect(caches).toEqual({ step: 400, names: [] });
});
