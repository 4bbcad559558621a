import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { CorruptCheckpointError, isCheckpointError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { watchAllocations } from "./allocations.testing.js";
import { type Files, fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { type RestoredLeaf, restoredLeaves, sameLeaves } from "./restoredLeaves.testing.js";

// Damaged files of every layout: bytes under a checksum never give other values, and nothing ever throws untyped, hangs or asks for much memory.

/** A checkpoint, and which of its files stand under checksums as a whole. */
interface Layout {
  readonly folder: string;
  readonly item?: string;
  readonly checked: RegExp;
}

const nothing = /$^/;
const index = /^(?:manifest\.ocdbt|d\/.*)$/;
const layouts: readonly Layout[] = [
  { folder: "generations/0.1.8/checkpoints/values", checked: nothing },
  { folder: "generations/0.1.8/checkpoints/aggregated", checked: nothing },
  { folder: "generations/0.1.8/checkpoints/flax", checked: nothing },
  { folder: "generations/0.3.5/checkpoints/ocdbt-slashes", checked: /manifest\.ocdbt$/ },
  { folder: "generations/0.4.8/checkpoints/values", checked: index },
  { folder: "generations/0.5.16/checkpoints/aggregated-some", checked: index },
  { folder: "generations/0.9.1/checkpoints/composite", item: "state", checked: nothing },
  { folder: "generations/0.11.33/checkpoints/special", item: "array", checked: nothing },
  { folder: "generations/0.12.8/checkpoints/special", item: "nprandom", checked: nothing },
  { folder: "generations/0.12.8/checkpoints/zarr3", checked: index },
  { folder: "generations/0.12.8/checkpoints/zarr3-directories", checked: nothing },
  { folder: "generations/0.12.8/checkpoints/chunks-zarr3", checked: index },
  { folder: "generations/0.12.8/checkpoints/two-processes-unmerged", checked: /manifest\.ocdbt$/ },
  { folder: "zarr-python/2/arrays/compressor_gzip", checked: /^\d/ },
  { folder: "zarr-python/2/arrays/compressor_zlib", checked: /^\d/ },
  { folder: "zarr-python/2/arrays/compressor_zstd_checksum", checked: /^\d/ },
  { folder: "zarr-python/3/arrays/compressor_crc32c", checked: /^c\// },
  { folder: "zarr-python/3/arrays/compressor_zstd_crc32c", checked: /^c\// },
  { folder: "zarr-python/3/arrays/shard_crc32c", checked: /^c\// },
  { folder: "zarr-python/3/arrays/shard_compressed_outside", checked: /^c\// },
  { folder: "zarr-python/3/arrays/shard_of_shards", checked: nothing },
  { folder: "zarr-python/3/arrays/shard_start_checked_holes", checked: nothing },
  { folder: "zarr-python/3/arrays/transpose_120", checked: nothing },
  { folder: "tensorstore/zarr3/arrays/transpose_shards_of_shards", checked: nothing },
];

const cutsEach = 4;
const flipsEach = 120;
const longestMs = 60_000;
const mostMemory = 64 * 2 ** 20;

function filesOf(folder: string): Files {
  const root = join(fixtureFolder, folder);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(root, path).replaceAll(sep, "/"), new Uint8Array(readFileSync(path))]));
}

type Outcome = { readonly leaves: readonly RestoredLeaf[] } | { readonly error: unknown };

async function outcomeOf(files: Files, item: string | undefined): Promise<Outcome> {
  const restore = async () => {
    const checkpoint = await openCheckpoint(memoryStorage(files), item === undefined ? {} : { item });
    return { leaves: restoredLeaves(await checkpoint.restore()) };
  };
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${longestMs} ms`)), longestMs);
  });
  const { value, largest } = await watchAllocations(() => Promise.race([restore(), tooLong]).catch((error: unknown) => ({ error })));
  clearTimeout(timer);
  return largest > mostMemory ? { error: new Error(`${largest} bytes were asked for at once`) } : value;
}

const told = (outcome: Outcome): string => ("error" in outcome ? `${outcome.error}` : `${outcome.leaves.length} leaves`);

/** Numbers from 0 up to 1, the same in every run (Park and Miller). */
function seeded(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}

describe.each(layouts)("$folder $item, damaged", ({ folder, item, checked }) => {
  const files = filesOf(folder);
  const whole = async () => {
    const outcome = await outcomeOf(files, item);
    if ("error" in outcome) throw outcome.error;
    return outcome.leaves;
  };

  /** What is wrong with an outcome, as a line. */
  const problemOf = (path: string, what: string, outcome: Outcome, leaves: readonly RestoredLeaf[]): string[] => {
    const isSame = "leaves" in outcome && sameLeaves(outcome.leaves, leaves);
    const isTyped = "error" in outcome && isCheckpointError(outcome.error);
    const isRight = checked.test(path)
      ? isSame || (isTyped && outcome.error instanceof CorruptCheckpointError)
      : "leaves" in outcome || isTyped;
    return isRight ? [] : [`${path} ${what}: ${told(outcome)}`];
  };

  it(`by files that are cut at ${cutsEach} points, or empty`, async () => {
    const leaves = await whole();
    const problems: string[] = [];
    for (const [path, bytes] of files) {
      for (let point = 0; point < cutsEach; point++) {
        const length = Math.floor((bytes.length * point) / cutsEach);
        const outcome = await outcomeOf(new Map(files).set(path, bytes.subarray(0, length)), item);
        problems.push(...problemOf(path, `cut to ${length}`, outcome, leaves));
      }
    }
    expect(problems).toEqual([]);
  });

  it(`by one of ${flipsEach} flipped bits`, async () => {
    const leaves = await whole();
    const random = seeded(folder.length * 31 + files.size);
    const places = [...files].filter(([, { length }]) => length > 0);
    const problems: string[] = [];
    for (let flip = 0; flip < flipsEach; flip++) {
      const [path, bytes] = places[Math.floor(random() * places.length)] ?? ["", new Uint8Array()];
      const damaged = bytes.slice();
      const at = Math.floor(random() * bytes.length);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      problems.push(...problemOf(path, `byte ${at}`, await outcomeOf(new Map(files).set(path, damaged), item), leaves));
    }
    expect(problems).toEqual([]);
  });
});
