import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { afterEach, expect, test } from "vitest";
import { differences, type Expected } from "../../../e2e/fixtures/expected.js";
import { s3Handler } from "../../../e2e/server/s3.mjs";
import { type Fault, type RunningServer, startServer } from "../../../e2e/server/server.mjs";
import { OrbaxCheckpointStore } from "../../checkpoint/store.js";
import { testClock } from "../http/clock.testing.js";
import { createHttpStorage } from "../http.js";

// One bucket with all that people reported of hosts, at once: ranges ignored (35), parts compressed (36), headers hidden (37), preflights
// refused (38), 403 for what is not there (41), lists in small pages (42), failures that pass (43), connections that break (44).

const fixture = join(import.meta.dirname, "../../../e2e/fixtures/data/digits");
const expected: Expected = JSON.parse(readFileSync(join(fixture, "expected.json"), "utf8"));
const steps = Object.keys(expected.steps).map(Number);

const objects = new Map(
  readdirSync(join(fixture, "checkpoints"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [`a run/${relative(join(fixture, "checkpoints"), path).split(sep).join("/")}`, new Uint8Array(readFileSync(path))]),
);

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

const data = /\/d\/[0-9a-f]{32}$/;
const oddities: readonly Fault[] = [
  { kind: "no-preflight" },
  { kind: "hide-headers" },
  { kind: "ignore-range", path: /\/optimizer\/d\// },
  { kind: "gzip", of: "part", ranged: true, path: /\/rng\/d\// },
  ...[3, 11, 23, 31].map(
    (after): Fault => ({ kind: "status", status: 503, body: "<Error><Code>SlowDown</Code></Error>", times: 1, after }),
  ),
  ...[2, 6].map((after): Fault => ({ kind: "cut", afterBytes: 500, path: data, times: 1, after })),
  ...[7, 19].map((after): Fault => ({ kind: "cut", afterBytes: 0, times: 1, after })),
];

async function serve(mayList: boolean): Promise<RunningServer> {
  const handler = s3Handler("bucket", objects, { mayList, pageSize: 2 });
  const server = await startServer({ root: new Map(), mounts: { "/bucket/": objects }, index: "none", faults: oddities, handler });
  running.push(server);
  return server;
}

async function expectStep(store: OrbaxCheckpointStore, step: number): Promise<void> {
  const items: Readonly<Record<string, unknown>> = (await store.restore(step)).items;
  for (const [item, leaves] of Object.entries(expected.steps[step]?.items ?? {}))
    expect(await differences(items[item], leaves)).toEqual([]);
}

test("every step is listed and restored from a bucket with every oddity", async () => {
  const server = await serve(true);
  const store = new OrbaxCheckpointStore(createHttpStorage("s3://bucket/a run", { endpoint: server.url }, testClock()));
  expect(await store.listSteps()).toEqual(steps);
  for (const step of steps) await expectStep(store, step);
  expect(server.requests.map(({ method }) => method)).not.toContain("OPTIONS");
});

test("a step that is named is restored where the bucket lists nothing and answers 403 for what is not there", async () => {
  const server = await serve(false);
  const storage = createHttpStorage("s3://bucket/a run", { endpoint: server.url, absentStatus: [403] }, testClock());
  await expectStep(new OrbaxCheckpointStore(storage), 400);
});
