import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseJson } from "../../bytes/json.js";
import { CheckpointMetadata } from "./checkpointMetadata.js";
import { formatCreatedAt, formatRecord, formatRecordedDtypes } from "./formatRecord.js";
import { formatCommitMarker, formatStepMetadata, type ItemKind } from "./stepMetadata.js";

const fixtures = join(import.meta.dirname, "../../../e2e/fixtures/data");

/** Steps of stores that real substrax wrote, which alone have a `_CHECKPOINT_METADATA`; those of two were changed by hand. */
const steps = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith("_CHECKPOINT_METADATA") && !/^(records|dtypes-item)\W/.test(path))
  .map((path) => dirname(path))
  .filter((step) => existsSync(join(fixtures, step, "dtypes/metadata")))
  .map((step) => [step] as const);

const textOf = (step: string, file: string): string => readFileSync(join(fixtures, step, file), "utf8");

const parse = (text: string) => parseJson(new TextEncoder().encode(text), "file", { floats: "tagged" });

const metadata: CheckpointMetadata = {
  format: "substrax-checkpoint",
  formatVersion: 1,
  step: 1,
  epoch: 4,
  items: ["data_iterator", "rng"],
  libraries: { jax: "0.11.1" },
  producer: { name: "p", version: "1" },
  metrics: { loss: Number.NaN, a: 1, small: 1e-7 },
  extra: { ü: 1, half: 0.5 },
  createdAt: "2026-11-29T21:15:09.493069+00:00",
};

describe("formatRecord", () => {
  it("finds the fixtures", () => expect(steps.length).toBeGreaterThan(10));

  it.each(steps)("is written byte for byte as in %s", (step) => {
    const text = textOf(step, "metadata/metadata");
    expect(formatRecord(CheckpointMetadata.fromDict(parse(text)))).toBe(text);
  });

  it("writes metrics as floats, and names beyond ASCII escaped", () => {
    expect(formatRecord(metadata)).toBe(
      '{"format": "substrax-checkpoint", "format_version": 1, "step": 1, "epoch": 4, "items": ["data_iterator", "rng"], "libraries": {"jax": "0.11.1"}, "producer": {"name": "p", "version": "1"}, "metrics": {"loss": NaN, "a": 1.0, "small": 1e-07}, "extra": {"\\u00fc": 1, "half": 0.5}, "created_at": "2026-11-29T21:15:09.493069+00:00"}',
    );
  });

  it("keeps names of prototypes as names", () => {
    const metrics = Object.fromEntries([["__proto__", 2]]);
    expect(formatRecord({ ...metadata, metrics })).toContain('"metrics": {"__proto__": 2.0}');
  });
});

describe("formatCreatedAt", () => {
  it("prints what Python's isoformat does", () => {
    expect(formatCreatedAt(new Date(Date.UTC(2026, 10, 29, 21, 15, 9, 493)))).toBe("2026-11-29T21:15:09.493000+00:00");
    expect(formatCreatedAt(new Date(Date.UTC(2026, 0, 2, 3, 4, 5)))).toBe("2026-01-02T03:04:05+00:00");
  });
});

describe("formatRecordedDtypes", () => {
  it.each(steps)("is written byte for byte as in %s", (step) => {
    const text = textOf(step, "dtypes/metadata");
    const items = Object.entries(parse(text) as Record<string, Record<string, string>>);
    expect(formatRecordedDtypes(new Map(items.map(([item, leaves]) => [item, new Map(Object.entries(leaves))])))).toBe(text);
  });

  it("keeps the order of leaves that are numbers", () => {
    const leaves = ["b", "10", "2"].map((leaf) => [leaf, "int8"] as const);
    expect(formatRecordedDtypes(new Map([["rng", new Map(leaves)]]))).toBe('{"rng": {"b": "int8", "10": "int8", "2": "int8"}}');
  });
});

describe("formatStepMetadata", () => {
  it.each(steps)("is written byte for byte as in %s", (step) => {
    const text = textOf(step, "_CHECKPOINT_METADATA");
    const stored = parse(text) as Record<string, bigint> & { readonly item_handlers: Record<string, string> };
    const kinds = Object.entries(stored.item_handlers).map(([name, handler]): [string, ItemKind] => [
      name,
      handler.includes("json") ? "json" : "pytree",
    ]);
    const times = { startTimeNsecs: stored.init_timestamp_nsecs ?? 0n, commitTimeNsecs: stored.commit_timestamp_nsecs ?? 0n };
    expect(formatStepMetadata({ items: new Map(kinds.reverse()), ...times })).toBe(text);
  });

  it("marks a commit as Orbax does", () => {
    for (const [step] of steps) {
      const text = textOf(step, "commit_success.txt");
      const path = text.slice(text.indexOf("/"));
      expect(formatCommitMarker(path)).toBe(text);
    }
  });
});
