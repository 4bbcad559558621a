import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { httpStorage } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import { mirrored } from "../storage/mirror/mirrored.js";
import type { ReadableStorage } from "../storage/storage.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { OrbaxCheckpointStore } from "./store.js";

// What a signed URL holds: of Azure, of Amazon, of hosts with tokens.
const queries = ["sv=2024&sr=d&sig=s3cret%2Bs3cret", "X-Amz-Signature=s3cret&X-Amz-Credential=s3cret", "token=s3cret&t=abcd"];

/** What a server may answer, or do, to every request. */
const answers: Readonly<Record<string, (url: string) => Response | Promise<Response>>> = {
  "no connection": (url) => Promise.reject(new TypeError(`fetch failed: ${url}`, { cause: new Error(url) })),
  "not found": (url) => new Response(url, { status: 404 }),
  forbidden: (url) => new Response(`<Error><Code>AccessDenied</Code><Resource>${url}</Resource></Error>`, { status: 403 }),
  unauthorised: (url) => new Response(url, { status: 401 }),
  "a failing server": (url) => new Response(url, { status: 503 }),
  "a page": (url) => new Response(`<!doctype html><title>${url}</title>`, { headers: { "content-type": "text/html" } }),
  "an error as a file": (url) => new Response(`<?xml version="1.0"?><Error><Message>${url}</Message></Error>`),
  "other JSON": (url) => new Response(JSON.stringify({ error: url }), { headers: { "content-type": "application/json" } }),
  "a redirect without end": (url) => new Response(null, { status: 302, headers: { location: `${url}&again` } }),
  "a list that goes on elsewhere": () =>
    new Response("<ListBucketResult><IsTruncated>true</IsTruncated><NextMarker>s3cret</NextMarker></ListBucketResult>"),
};

describe.each(queries)("the query %s of a URL", (query) => {
  const url = `https://host/run?${query}`;

  it.each(Object.entries(answers))("goes with every request and stands in no error, where there is %s", async (_, answer) => {
    const asked: string[] = [];
    const fetch = async (given: string) => {
      asked.push(given);
      return answer(given);
    };
    const place = httpStorage(url, { fetch, retries: 0 });
    const store = new OrbaxCheckpointStore(place);
    const mirror = mirrored(place, memoryStorage());
    const told: unknown[] = [];
    for (const call of [
      () => place.list("a/"),
      () => openCheckpoint(place),
      () => openCheckpoint(place, { step: 1, item: "model" }),
      () => openCheckpoint(mirror),
      () => mirror.download(),
      () => store.restore(1, { onProgress: (event) => told.push(event) }),
      () => store.latestStep(),
      () => store.readMetadata(1),
    ])
      told.push(await call().catch((error: unknown) => error));
    told.push(place.name, mirror.name, mirror.progress);
    expect(told.some((error) => error instanceof Error)).toBe(true);
    expect(inspect(told, { depth: 20, showHidden: true })).not.toContain("s3cret");
    expect(asked.length).toBeGreaterThan(0);
    for (const request of asked) expect(new URL(request).searchParams.toString()).toContain(new URLSearchParams(query).toString());
  });

  it("stands in nothing that an opened checkpoint tells", async () => {
    const files = memoryStorage();
    await new OrbaxCheckpointStore(files).save(1, { model: { w: new Float32Array(3) } });
    const checkpoint = await openCheckpoint(httpStorage(url, { fetch: (given) => answerFrom(files, given) }), { step: 1, item: "model" });
    const events: unknown[] = [];
    const tree = await checkpoint.restore({ onProgress: (event) => events.push(event) });
    expect(inspect([checkpoint, tree, events], { depth: 20, showHidden: true })).not.toContain("s3cret");
  });
});

async function answerFrom(files: ReadableStorage, url: string): Promise<Response> {
  const path = new URL(url).pathname.slice("/run/".length);
  const bytes = path === "" || path.endsWith("/") ? undefined : await files.read(path);
  return bytes === undefined ? new Response(null, { status: 404 }) : new Response(bytes as Uint8Array<ArrayBuffer>);
}
