import { describe, expect, it } from "vitest";
import { StorageError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import { filesOfStep } from "../fixtureSteps.testing.js";
import { OptionalFiles } from "./optionalFiles.js";
import { metadataOfRecord, readMetadata, readStepFile } from "./orbaxMetadata.js";
import { stepFileOf } from "./stepFile.js";

const text = (content: string) => new TextEncoder().encode(content);
const filesIn = (files: Readonly<Record<string, string>>) =>
  new OptionalFiles(memoryStorage(new Map(Object.entries(files).map(([path, content]) => [path, text(content)]))), {});

const times = '"init_timestamp_nsecs": 1778718341396223910, "commit_timestamp_nsecs": 1778718341620521635';
const both = { initTimestampNsecs: 1778718341396223910n, commitTimestampNsecs: 1778718341620521635n };
const nothing = {
  itemHandlers: {},
  metrics: {},
  performanceMetrics: {},
  initTimestampNsecs: undefined,
  commitTimestampNsecs: undefined,
  customMetadata: {},
};

describe("a step's own file", () => {
  it.each([
    ["of Orbax 0.5.11 to 0.9, and 0.10.3", `{${times}}`, both],
    [
      "of 0.10.0",
      `{"format": 1, "item_handlers": {}, "item_metadata": {}, "metrics": {}, ${times}, "custom": {"a": 1}}`,
      { ...both, customMetadata: { a: 1 } },
    ],
    ["of 0.11.1", `{"item_handlers": {"x": "y.Z"}, "custom": {"a": [1.5]}}`, { itemHandlers: { x: "y.Z" }, customMetadata: { a: [1.5] } }],
    ["of 0.11.8", `{"item_handlers": null, "custom_metadata": {"a": null}}`, { customMetadata: { a: null } }],
    ["of a checkpoint without items", `{"item_handlers": "y.Z"}`, { itemHandlers: { "": "y.Z" } }],
    ["of a save that did not end", `{"init_timestamp_nsecs": 5, "commit_timestamp_nsecs": null}`, { initTimestampNsecs: 5n }],
    [
      "with metrics of all kinds",
      `{"metrics": {"a": NaN, "b": -Infinity, "c": 1, "d": "x"}, "performance_metrics": {"s": 0.5, "t": null}}`,
      { metrics: { a: Number.NaN, b: Number.NEGATIVE_INFINITY, c: 1 }, performanceMetrics: { s: 0.5 } },
    ],
    ["with members of other types", `{"item_handlers": [1], "metrics": 5, "custom_metadata": "x", "init_timestamp_nsecs": 1.5}`, {}],
    ["with a key that is a prototype's", `{"custom_metadata": {"__proto__": 1}}`, { customMetadata: JSON.parse('{"__proto__": 1}') }],
    ["that is a list", "[]", {}],
  ] as const)("%s", async (_, content, members) => {
    const files = filesIn({ "7/_CHECKPOINT_METADATA": content });
    expect(await readStepFile(files, "7")).toEqual({ ...nothing, ...members });
    expect(files.unreadable).toEqual([]);
  });

  it("that is not there, or is no JSON, tells nothing", async () => {
    expect(await readStepFile(filesIn({}), "")).toEqual(nothing);
    const files = filesIn({ _CHECKPOINT_METADATA: "{" });
    expect(await readStepFile(files, "")).toEqual(nothing);
    expect(files.unreadable).toEqual([expect.stringMatching(/^_CHECKPOINT_METADATA at byte 1/)]);
  });
});

describe("what stands beside it", () => {
  const places = { folder: "7", hasMetrics: true, hasRecord: true, hasRootMetadata: true };
  const read = (files: OptionalFiles) => readMetadata(files, stepFileOf(null), places);

  it("are metrics, which count for more than the step's file", async () => {
    const files = filesIn({ "7/metrics/metrics": '{"loss": NaN, "acc": 1.0}' });
    expect(await readMetadata(files, stepFileOf({ metrics: { acc: 0, old: 2 } }), places)).toMatchObject({
      metrics: { loss: Number.NaN, acc: 1, old: 2 },
    });
  });

  it.each([
    ["of Orbax 0.5.16 to 0.9", { "metadata/metadata": '{"a": 1}' }],
    ["of 0.10", { "metadata/_ROOT_METADATA": '{"custom": {"a": 1}}' }],
    ["of 0.11.13", { "metadata/_ROOT_METADATA": '{"custom_metadata": {"a": 1}}' }],
    ["of 0.11.33", { "metadata/_ROOT_METADATA": '{"internal_metadata": {}, "custom_metadata": {"a": 1}}' }],
  ])("is the metadata of the manager %s", async (_, files) => {
    expect((await read(filesIn(files))).rootMetadata).toEqual({ a: 1 });
  });

  it("is substrax's record, and not what another program calls metadata", async () => {
    const record = new TextDecoder().decode(filesOfStep("digits", 400).get("400/metadata/metadata"));
    const { record: found, metrics } = await read(filesIn({ "7/metadata/metadata": record }));
    expect(found).toMatchObject({ step: 400, items: ["model", "optimizer", "rng", "data_iterator"] });
    expect(metrics).toEqual(found?.metrics);
    expect(found && metadataOfRecord(found)).toMatchObject({ record: found, metrics, unreadable: [] });
    const foreign = filesIn({ "7/metadata/metadata": '{"format": "mine"}' });
    expect((await read(foreign)).record).toBeUndefined();
    expect(foreign.unreadable).toEqual([]);
    const damaged = filesIn({ "7/metadata/metadata": '{"format": "substrax-checkpoint", "format_version": 2}' });
    expect((await read(damaged)).record).toBeUndefined();
    expect(damaged.unreadable).toEqual([expect.stringMatching(/^7\/metadata\/metadata: checkpoint format 2 is not/)]);
  });
});

describe("optional files", () => {
  const failing = (reason: "network" | "changed") =>
    new OptionalFiles({ ...memoryStorage(), read: () => Promise.reject(new StorageError({ path: "a", reason, message: reason })) }, {});

  it("that cannot be read are as if they were not there, and said", async () => {
    const files = failing("network");
    expect(await files.read("a")).toBeUndefined();
    expect(files.unreadable).toEqual(["a: network"]);
  });

  it("that changed meanwhile are an error, since then all has to be read again", async () => {
    await expect(failing("changed").read("a")).rejects.toMatchObject({ reason: "changed" });
  });
});
