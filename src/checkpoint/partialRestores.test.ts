import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../../e2e/server/server.mjs";
import { endOf } from "../bytes/ranges.js";
import { CheckpointTreeMismatchError, CheckpointValueError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { openOcdbt } from "../ocdbt/open.js";
import { memoryStorage } from "../storage/memory.js";
import { subfolder } from "../storage/subfolder.js";
import { filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import type { RestoredTree } from "./item/leaves.js";
import { restoredLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";
import { shapeDtypeStruct } from "./template/template.js";

// The digits fixture: a model of three layers and its Adam state, written by real substrax.

const step = 1200;
const files = filesOfStep("digits", step);
let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ root: join(fixtureFolder, "digits", "checkpoints") });
});
afterAll(() => server.close());

const store = () => new OrbaxCheckpointStore(server.url);

/** Where the chunks of some leaves of an item lie; all are one chunk. */
async function chunksOf(item: string, paths: readonly string[]) {
  const database = await openOcdbt(subfolder(memoryStorage(files), `${step}/${item}`));
  const found = await database?.locateAll(
    paths.map((path) => `tree.${path.replaceAll("/", ".")}/${path.endsWith("kernel/value") ? "0.0" : "0"}`),
  );
  return (found ?? []).map((location) => location && { path: `/${step}/${item}/${location.path}`, ...location.range });
}

/** What was requested of a file since a number of requests, in bytes. */
const requestedSince = (count: number, path: string): number =>
  server.requests
    .slice(count)
    .filter((request) => request.path === path)
    .reduce((sum, { range }) => {
      const [, first = "0", last = "-1"] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
      return sum + Number(last) - Number(first) + 1;
    }, 0);

/** A dict of the restored tree as paths. */
const paths = (tree: unknown): string[] => restoredLeaves(tree).map(({ path }) => path);

const struct = (...shape: number[]) => shapeDtypeStruct(shape, "float32");

describe("select", () => {
  it("restores what it names and requests just its bytes", async () => {
    const opened = await store().open(step);
    const before = server.requests.length;
    const { items } = await opened.restore({ select: "model/hidden1/kernel/value" });
    expect(items).toEqual({ model: { hidden1: { kernel: { value: expect.objectContaining({ shape: [64, 128] }) } } } });
    const [chunk] = await chunksOf("model", ["hidden1/kernel/value"]);
    expect(server.requests.slice(before)).toHaveLength(1);
    expect(requestedSince(before, chunk?.path ?? "")).toBe(chunk?.length);
  });

  it("of an item has paths without the item, and requests no byte of other items", async () => {
    const opened = await store().open(step);
    const before = server.requests.length;
    const tree = await opened.items.model?.restore({ select: ["**/kernel/value", "!hidden1/**"] });
    expect(paths(tree)).toEqual(["/hidden2/kernel/value", "/out/kernel/value"]);
    const chunks = await chunksOf("model", ["hidden2/kernel/value", "out/kernel/value"]);
    const asked = server.requests.slice(before);
    expect(asked.every(({ path }) => chunks.some((chunk) => chunk?.path === path))).toBe(true);
    const wanted = chunks.reduce((sum, chunk) => sum + (chunk?.length ?? 0), 0);
    const between = Math.max(...chunks.map((chunk) => (chunk ? endOf(chunk) : 0))) - Math.min(...chunks.map((chunk) => chunk?.offset ?? 0));
    const received = requestedSince(before, chunks[0]?.path ?? "");
    expect([wanted, between]).toContain(received);
  });

  it("takes a function of what is known of a leaf", async () => {
    const { items } = await store().restore(step, { select: ({ path, bytes }) => path.startsWith("model/") && bytes < 300 });
    expect(paths(items)).toEqual(["/model/hidden2/bias/value", "/model/out/bias/value"]);
  });

  it("makes buffers for the selected leaves only, and counts only them as progress", async () => {
    const device = new FakeDevice();
    const totals = new Set<number>();
    const onProgress = ({ totalBytes }: { readonly totalBytes: number }) => totals.add(totalBytes);
    const checkpoint = await store().restore(step, { device: device.gpu, select: "model/out/**", onProgress });
    expect(device.buffers.map(({ label }) => label).sort()).toEqual(["model/out/bias/value", "model/out/kernel/value"]);
    expect([...totals]).toEqual([10 * 4 + 64 * 10 * 4]);
    expect(checkpoint.leaf("model", "out/bias/value")).toMatchObject({ shape: [10] });
    expect(checkpoint.leaf("model", "hidden1/bias/value")).toBeUndefined();
    checkpoint.destroy();
  });

  it("compares and reads nothing else of the templates", async () => {
    const model = { out: { bias: { value: struct(10) }, kernel: { value: struct(64, 10) } }, hidden1: "whatever" };
    const { items } = await store().restore(step, { select: "model/out/**", templates: { model, optimizer: { nothing: 1 } } });
    expect(items.model?.out?.bias?.value?.data).toHaveLength(10);
    expect(paths(items)).toEqual(["/model/out/bias/value", "/model/out/kernel/value"]);
  });

  it("without a leaf is an error before anything is requested", async () => {
    const opened = await store().open(step);
    const before = server.requests.length;
    await expect(opened.restore({ select: "params/**" })).rejects.toThrow(/"params\/\*\*".*"model\/hidden1\/bias\/value"/s);
    await expect(opened.restore({ select: "params/**" })).rejects.toBeInstanceOf(CheckpointValueError);
    expect(server.requests.length).toBe(before);
  });

  it("gives the same bits as a restore of everything", async () => {
    const whole = await store().restore(step);
    const part = await store().restore(step, { select: ["optimizer/**"] });
    expect(restoredLeaves(part.items.optimizer)).toEqual(restoredLeaves(whole.items.optimizer as RestoredTree));
  });
});

describe("missing", () => {
  const model = { out: { kernel: { value: struct(64, 10) }, scale: struct(3) }, head: struct(2) };

  it("skip restores the leaves that the checkpoint and the template share", async () => {
    const opened = await store().open(step);
    const before = server.requests.length;
    const tree = await opened.items.model?.restore({ missing: "skip", template: model });
    expect(paths(tree)).toEqual(["/out/kernel/value"]);
    const [chunk] = await chunksOf("model", ["out/kernel/value"]);
    expect(requestedSince(before, chunk?.path ?? "")).toBe(chunk?.length);
    expect(server.requests.length - before).toBe(1);
  });

  it("error, the default, reports missing, unexpected and mismatched leaves at once", async () => {
    const wrong = {
      ...model,
      hidden1: { bias: { value: struct(7) }, kernel: { value: { impl: "rbg", data: new Uint32Array(4) } } },
    };
    const error = await store()
      .restore(step, { select: "model/**", templates: { model: wrong } })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CheckpointTreeMismatchError);
    expect((error as CheckpointTreeMismatchError).mismatches.map(({ problem, leaf }) => `${problem} ${leaf}`).sort()).toEqual([
      "kind hidden1/kernel/value",
      "missing head",
      "missing out/scale",
      "shape hidden1/bias/value",
      "unexpected hidden2/bias/value",
      "unexpected hidden2/kernel/value",
      "unexpected out/bias/value",
    ]);
  });

  it("skip still refuses other shapes", async () => {
    const templates = { model: { out: { bias: { value: struct(11) } } } };
    await expect(store().restore(step, { missing: "skip", select: "model/**", templates })).rejects.toThrow(/shape/);
  });

  it("takes no other word", async () => {
    await expect(store().restore(step, { missing: "ignore" as never })).rejects.toThrow(/missing is "error" or "skip"/);
  });
});
