import { describe, expect, it } from "vitest";
import { finalName, isTemporary, namedSteps, stateFileNames, stepOfFile, stepOfName } from "./stepName.js";

describe("stepOfName", () => {
  it.each([
    ["0", 0],
    ["7", 7],
    ["12000", 12_000],
    ["0023", 23],
    ["000022282240", 22_282_240],
    ["step_23", 23],
    ["ckpt_000007", 7],
    ["my_run_100", 100],
    ["_5", 5],
    ["checkpoint_100", 100],
    [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
  ])("%s stands for step %i", (name, step) => {
    expect(stepOfName(name)).toBe(step);
  });

  it.each([
    "",
    "default",
    "metadata",
    "12abc",
    "step-100",
    "step-100.backup",
    "step_100.backup",
    "step_",
    "1.5",
    "-3",
    "+3",
    " 3",
    "3\n",
    "٣",
    "9007199254740992",
    "7.orbax-checkpoint-tmp",
    "7.orbax-checkpoint-tmp-68",
    "7.orbax-checkpoint-tmp-1795987909277475",
    "step_7.orbax-checkpoint-tmp-68",
    "ocdbt.process_0",
    "ocdbt.process_replica_3",
  ])("%s stands for none", (name) => {
    expect(stepOfName(name)).toBeUndefined();
  });
});

it("knows unfinished saves of all versions, and the names that they would have got", () => {
  for (const name of ["7.orbax-checkpoint-tmp", "7.orbax-checkpoint-tmp-68", "7.orbax-checkpoint-tmp-1795987909277475", "7.partial_save"]) {
    expect([isTemporary(name), finalName(name)]).toEqual([true, "7"]);
  }
  expect(isTemporary("7")).toBe(false);
});

it("takes only flax's files for steps", () => {
  expect([stepOfFile("checkpoint_100"), stepOfFile("100"), stepOfFile("events_100")]).toEqual([100, undefined, undefined]);
});

it("knows files that may be flax's under another prefix", () => {
  expect(stateFileNames(["model_10", "model_9", "a_b_1.txt", "events.5_3", "7", "model"])).toEqual([
    { step: 9, name: "model_9" },
    { step: 10, name: "model_10" },
  ]);
});

it("finds the steps of a root, ascending by number", () => {
  const directories = ["step_10", "step_9", "metadata", "11.orbax-checkpoint-tmp"];
  expect(namedSteps({ directories, files: ["checkpoint_3", "README.md"] })).toEqual([
    { step: 3, name: "checkpoint_3" },
    { step: 9, name: "step_9" },
    { step: 10, name: "step_10" },
  ]);
});
