import { describe, expect, it } from "vitest";
import { isCheckpointError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { type Files, filesOfStep } from "./fixtureSteps.testing.js";
import { type OpenOptions, openCheckpoint } from "./openCheckpoint.js";
import { type RestoredLeaf, restoredLeaves, sameLeaves } from "./restoredLeaves.testing.js";

/** Files that a restore needs, for each of which it fails where that is not there; all others it does without. */
interface Case {
  readonly what: string;
  readonly files: Files;
  readonly options: OpenOptions<undefined>;
  readonly needed: RegExp;
  /** Without these it does, but knows less. */
  readonly useful: RegExp;
}

const cases: readonly Case[] = [
  {
    what: "a step of plain Orbax",
    files: filesOfStep("plain-orbax", 1),
    options: {},
    // A database of each process is left where that of all is lost, and the arrays' own names where the tree is.
    needed: /^1\/default\/d\//,
    useful: /^1\/default\/_METADATA$/,
  },
  {
    what: "an item of several",
    files: filesOfStep("named-items", 1),
    options: { item: "state" },
    needed: /^1\/state\/d\//,
    useful: /^1\/state\/_METADATA$/,
  },
  {
    what: "an item of substrax",
    files: filesOfStep("digits", 400),
    options: { item: "model" },
    needed: /^400\/model\/(_METADATA|d\/.*|ocdbt.process_0\/d\/(298f|c702).*)$/,
    useful: /^400\/metadata\/metadata$/,
  },
];

async function leavesOf(files: Files, options: OpenOptions<undefined>): Promise<RestoredLeaf[]> {
  const opened = await openCheckpoint(memoryStorage(files), options);
  return restoredLeaves({ item: await opened.restore() });
}

describe.each(cases)("of $what", ({ files, options, needed, useful }) => {
  it("each file that is lost is told of by its name, or not needed", async () => {
    const whole = await leavesOf(files, options);
    const outcomes: Record<string, string> = {};
    for (const path of files.keys()) {
      const others = new Map([...files].filter(([other]) => other !== path));
      outcomes[path] = await leavesOf(others, options).then(
        (leaves) => (sameLeaves(leaves, whole) ? "the same" : "other leaves"),
        (error: unknown) => (isCheckpointError(error, "Corrupt") && error.message.includes(path) ? "named" : String(error)),
      );
    }
    const expected = [...files.keys()].map((path) => [path, needed.test(path) ? "named" : useful.test(path) ? "other leaves" : "the same"]);
    expect(outcomes).toEqual(Object.fromEntries(expected));
  });
});
