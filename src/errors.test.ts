import { expect, it } from "vitest";
import {
  CheckpointDtypeMismatchError,
  CheckpointNotFoundError,
  CheckpointNotWrittenError,
  CheckpointTreeMismatchError,
  CheckpointValidationError,
  CheckpointValueError,
  CorruptCheckpointError,
  DeviceError,
  isCheckpointError,
  StorageError,
  UnsupportedCheckpointError,
} from "./errors.js";

const errors = [
  new CheckpointValueError("bad"),
  new CheckpointTreeMismatchError(1, []),
  new CheckpointNotFoundError(1, "runs"),
  new CheckpointNotWrittenError(1, null, "exists"),
  new CheckpointDtypeMismatchError(1, [], false),
  new UnsupportedCheckpointError("other"),
  new CheckpointValidationError("the record", []),
  new CorruptCheckpointError({ path: "a", expected: "b", received: "c" }),
  new StorageError({ path: "a", reason: "io", message: "b" }),
  new DeviceError({ reason: "lost", leaf: "", bytes: 0, message: "gone" }),
];

it("names each error as its class, in words that a bundler cannot shorten", () => {
  expect(errors.map(({ name }) => name)).toEqual(errors.map((error) => error.constructor.name));
});

it("tells the errors of the package from others, and a tree mismatch as a value error too", () => {
  expect(errors.every((error) => isCheckpointError(error))).toBe(true);
  expect(isCheckpointError(new Error("other"))).toBe(false);
  expect(isCheckpointError(new CheckpointTreeMismatchError(1, []), "Value")).toBe(true);
  expect(isCheckpointError(new CheckpointValueError("bad"), "TreeMismatch")).toBe(false);
});

it("a tree mismatch speaks of skipping leaves only where that would help", () => {
  const message = (leaf: string, problem: "missing" | "shape") =>
    new CheckpointTreeMismatchError(undefined, [{ item: "", leaf, problem, expected: "a", received: "b" }]).message;
  expect(message("w", "missing")).toMatch(/\(w: missing; .*; change the template, .*, or pass missing: "skip"/);
  expect(message("w", "shape")).not.toContain('missing: "skip"');
  expect(message("", "missing")).toMatch(
    /\(the tree: missing; the template has a, the checkpoint b\); change the template, or use null in it to skip a leaf$/,
  );
});

it("damage is answered by its own advice where it has one", () => {
  const facts = { path: "a", expected: "b", received: "c" };
  expect(new CorruptCheckpointError(facts).message).toMatch(/copy the checkpoint again, dot-files and folders included$/);
  expect(new CorruptCheckpointError({ ...facts, advice: "do that" }).message).toBe("a: expected b, received c; do that");
});
