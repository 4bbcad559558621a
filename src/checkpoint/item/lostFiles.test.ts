import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { type Files, fixtureFolder } from "../fixtureSteps.testing.js";
import { restoredLeaves, sameLeaves } from "../restoredLeaves.testing.js";
import { openedItem, restoredItem } from "./openedItems.testing.js";

// Every file of an item is lost in turn, in each layout that Orbax wrote.

/** An item of a generation's fixture, where a tree of one level has the names of its arrays as keys and so does without its file: which of its files are needed, and without which it has other leaves, or says less of them. */
interface LostCase {
  readonly place: string;
  readonly needed: RegExp;
  readonly other?: RegExp;
}

/** Data files of a process hold values that the merged database refers to, and nodes that only its own does. */
const either = /^ocdbt\.process_\d+\/d\//;

const cases: readonly LostCase[] = [
  { place: "0.1.8/checkpoints/directories", needed: /^[^/]+\/(\.zarray|[\d.]+)$/, other: /^checkpoint$/ },
  { place: "0.1.8/checkpoints/aggregated", needed: /^checkpoint$/ },
  { place: "0.2.7/checkpoints/aggregated-some", needed: /^[^/]+\/(\.zarray|[\d.]+)$/, other: /^checkpoint$/ },
  { place: "0.3.5/checkpoints/ocdbt", needed: /^(manifest\.ocdbt|d\/.*)$/, other: /^checkpoint$/ },
  { place: "0.3.5/checkpoints/ocdbt-slashes", needed: /(manifest\.ocdbt|d\/[0-9a-f]*)$/, other: /^checkpoint$/ },
  { place: "0.4.8/checkpoints/aggregated-some", needed: /^(checkpoint|d\/.*)$/ },
  { place: "0.4.8/checkpoints/texts", needed: /^(_strings\.json|d\/.*)$/ },
  { place: "0.5.16/checkpoints/zarr3-directories", needed: /\/zarr\.json$/, other: /\/c\// },
  { place: "0.6.4/checkpoints/two-processes", needed: /d\/[0-9a-f]*$/ },
  { place: "0.6.4/checkpoints/two-processes-unmerged", needed: /(manifest\.ocdbt|d\/[0-9a-f]*)$/ },
  { place: "0.11.33/checkpoints/typed-keys", needed: /^d\/.*/, other: /^_METADATA$|^array_metadatas/ },
  { place: "0.12.8/checkpoints/chunks-zarr3", needed: /^d\/.*/ },
];

function filesIn(place: string): Files {
  const root = join(fixtureFolder, "generations", place);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [`i/${path.slice(root.length + 1)}`, new Uint8Array(readFileSync(path))];
    }),
  );
}

const leavesOf = async (files: Files) => restoredLeaves(await restoredItem(await openedItem(files, "i")));

describe.each(cases)("of $place", ({ place, needed, other }) => {
  test("each file that is lost is told of, or not needed", async () => {
    const files = filesIn(place);
    const whole = await leavesOf(files);
    const outcomes: Record<string, string> = {};
    for (const lost of files.keys()) {
      const outcome = await leavesOf(new Map([...files].filter(([path]) => path !== lost))).then(
        (leaves) => (sameLeaves(leaves, whole) ? "the same" : "other leaves"),
        (error: unknown) => (error instanceof CorruptCheckpointError && error.path.startsWith("i/") ? "an error" : String(error)),
      );
      outcomes[lost.slice(2)] = outcome;
    }
    const expected = (path: string) => {
      if (either.test(path)) return expect.stringMatching(/^(an error|the same)$/);
      return needed.test(path) ? "an error" : other?.test(path) ? "other leaves" : "the same";
    };
    expect(outcomes).toEqual(Object.fromEntries(Object.keys(outcomes).map((path) => [path, expected(path)])));
  });
});
