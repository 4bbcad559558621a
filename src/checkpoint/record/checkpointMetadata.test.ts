import { describe, expect, it } from "vitest";
import { parseJson } from "../../bytes/json.js";
import { CheckpointValidationError, UnsupportedCheckpointError } from "../../errors.js";
import { CheckpointMetadata, Producer } from "./checkpointMetadata.js";

const minimal = { format: "substrax-checkpoint", format_version: 1, step: 5, items: ["model"], created_at: "2026-11-29T21:15:09+00:00" };

/** The record with some members replaced, as it stands in a file: `1.0` stays apart from `1`. */
const read = (changes: string) => {
  const text = JSON.stringify(minimal).slice(0, -1);
  return CheckpointMetadata.fromDict(parseJson(new TextEncoder().encode(`${text}, ${changes}}`), "metadata", { floats: "tagged" }));
};

const without = (name: keyof typeof minimal) => {
  const { [name]: _, ...rest } = minimal;
  return () => CheckpointMetadata.fromDict(rest);
};

function issuesOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof CheckpointValidationError) return error.issues.map(({ path }) => path.join("."));
    throw error;
  }
  throw new Error("accepted");
}

describe("CheckpointMetadata.fromDict, as pydantic decides in substrax (substrax-behaviour 5.1)", () => {
  it("fills in the members that may be missing", () => {
    const { format_version: _, ...rest } = minimal;
    expect(CheckpointMetadata.fromDict(rest)).toEqual({
      format: "substrax-checkpoint",
      formatVersion: 1,
      step: 5,
      epoch: null,
      items: ["model"],
      libraries: {},
      producer: null,
      metrics: {},
      extra: {},
      createdAt: "2026-11-29T21:15:09+00:00",
    });
  });

  it.each([
    ['"step": -3', { step: -3 }],
    ['"step": 100000000000000000000', { step: 1e20 }],
    ['"epoch": 4', { epoch: 4 }],
    ['"epoch": null', { epoch: null }],
    ['"items": []', { items: [] }],
    ['"items": ["foo", "foo"]', { items: ["foo", "foo"] }],
    ['"libraries": {"jax": "0.11.1"}', { libraries: { jax: "0.11.1" } }],
    [
      '"metrics": {"a": 1, "b": NaN, "c": -Infinity, "d": 1180591620717411303424}',
      { metrics: { a: 1, b: Number.NaN, c: -Infinity, d: 2 ** 70 } },
    ],
    ['"extra": {"step": 1, "n": [1.0, null, {"x": 9007199254740993}]}', { extra: { step: 1, n: [1, null, { x: 9007199254740993n }] } }],
    ['"producer": {"name": "", "version": "", "more": 1}', { producer: { name: "", version: "" } }],
    ['"created_at": "yesterday"', { createdAt: "yesterday" }],
    ['"unknown": 1', { step: 5 }],
  ])("accepts %s", (changes, expected) => {
    expect(read(changes)).toMatchObject(expected);
  });

  it.each([
    ['"step": "1"', ["step"]],
    ['"step": 1.0', ["step"]],
    ['"step": 1.5', ["step"]],
    ['"step": true', ["step"]],
    ['"step": null', ["step"]],
    ['"format_version": "1"', ["format_version"]],
    ['"format_version": 1.0', ["format_version"]],
    ['"format_version": 2.0', ["format_version"]],
    ['"format_version": null', ["format_version"]],
    ['"format_version": true', ["format_version"]],
    ['"epoch": "1"', ["epoch"]],
    ['"epoch": 1.0', ["epoch"]],
    ['"epoch": true', ["epoch"]],
    ['"items": null', ["items"]],
    ['"items": "model"', ["items"]],
    ['"items": {}', ["items"]],
    ['"items": [1]', ["items.0"]],
    ['"libraries": {"jax": 1}', ["libraries.jax"]],
    ['"libraries": null', ["libraries"]],
    ['"metrics": {"a": true, "b": "1", "c": null, "d": 1}', ["metrics.a", "metrics.b", "metrics.c"]],
    ['"metrics": []', ["metrics"]],
    ['"extra": []', ["extra"]],
    ['"producer": {}', ["producer.name", "producer.version"]],
    ['"producer": "x"', ["producer"]],
    ['"created_at": 5', ["created_at"]],
    ['"created_at": null', ["created_at"]],
    ['"step": 1.0, "epoch": true, "items": [2]', ["step", "epoch", "items.0"]],
  ])("refuses %s, naming every problem at once", (changes, paths) => {
    expect(issuesOf(() => read(changes))).toEqual(paths);
  });

  it("refuses missing members", () => {
    expect(issuesOf(without("step"))).toEqual(["step"]);
    expect(issuesOf(without("items"))).toEqual(["items"]);
    expect(issuesOf(without("created_at"))).toEqual(["created_at"]);
  });

  it.each(['"format": "x"', '"format": null', '"format": 1'])("is another format's record with %s", (changes) => {
    expect(() => read(changes)).toThrow(UnsupportedCheckpointError);
    expect(() => read(changes)).toThrow(/not a substrax-checkpoint record: format/);
  });

  it.each([2, 0, -1, 3, false, 10n ** 20n])("is another version's record with format_version %s", (version) => {
    expect(() => CheckpointMetadata.fromDict({ ...minimal, format_version: version })).toThrow(UnsupportedCheckpointError);
  });

  it("names old substrax records", () => {
    expect(() => CheckpointMetadata.fromDict({ checkpoint_version: "2.0", step: 1 })).toThrow(/before 0.1.10/);
  });

  it("refuses {} as another format and a list or null as malformed", () => {
    expect(() => CheckpointMetadata.fromDict({})).toThrow(UnsupportedCheckpointError);
    expect(issuesOf(() => CheckpointMetadata.fromDict([]))).toEqual([""]);
    expect(issuesOf(() => CheckpointMetadata.fromDict(null))).toEqual([""]);
  });

  it("says what was expected", () => {
    expect(() => read('"created_at": 5, "metrics": {"a": "x"}')).toThrow(/created_at: expected a string/);
    expect(() => read('"metrics": {"a": "x"}')).toThrow(/metrics.a: expected a number/);
  });

  it("keeps a metric named __proto__", () => {
    expect(Object.entries(read('"metrics": {"__proto__": 0.5}').metrics)).toEqual([["__proto__", 0.5]]);
  });
});

describe("toDict", () => {
  it("gives the ten members in substrax's order, and reads back as the same record", () => {
    const metadata = read('"epoch": 2, "producer": {"name": "p", "version": "1"}, "metrics": {"loss": 0.5}, "extra": {"a": [1]}');
    const payload = CheckpointMetadata.toDict(metadata);
    expect(Object.keys(payload)).toEqual([
      "format",
      "format_version",
      "step",
      "epoch",
      "items",
      "libraries",
      "producer",
      "metrics",
      "extra",
      "created_at",
    ]);
    expect(CheckpointMetadata.fromDict(payload)).toEqual(metadata);
  });
});

describe("Producer", () => {
  it("goes both ways", () => {
    expect(Producer.fromDict(Producer.toDict({ name: "p", version: "1" }))).toEqual({ name: "p", version: "1" });
    expect(issuesOf(() => Producer.fromDict({ name: 1 }))).toEqual(["name", "version"]);
  });
});
