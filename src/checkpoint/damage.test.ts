import { describe, expect, it } from "vitest";
import { endOf } from "../bytes/ranges.js";
import { CorruptCheckpointError, isCheckpointError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { memoryStorage } from "../storage/memory.js";
import { watchAllocations } from "./allocations.testing.js";
import { bytesNeeded, type Files, filesOfStep, type NeededBytes } from "./fixtureSteps.testing.js";
import { type RestoredLeaf, restoredLeaves, sameLeaves } from "./restoredLeaves.testing.js";
import { OrbaxCheckpointStore } from "./store.js";
import type { Templates } from "./template/restoredTypes.js";
import { templateOf } from "./template/templateOf.js";

const fixtures = [
  ["bare", 1],
  ["dtypes-item", 1],
  ["trees", 1],
  ["sharded", 1],
  ["digits", 1200],
] as const;

const truncationsEach = 50;
const flipsEach = 400; // 2,000 in all
const watchdogMs = 60_000;
const budget = 2 ** 20;

/** A step as it was written, what a restore of it needs, and what it gives. */
interface Whole {
  readonly step: number;
  readonly files: Files;
  readonly needed: readonly NeededBytes[];
  readonly leaves: readonly RestoredLeaf[];
  readonly templates: Templates;
}

async function readWhole(fixture: string, step: number): Promise<Whole> {
  const files = filesOfStep(fixture, step);
  const { items } = await new OrbaxCheckpointStore(memoryStorage(files)).restore(step);
  return { step, files, needed: await bytesNeeded(files, step), leaves: restoredLeaves(items), templates: templateOf(items) as Templates };
}

type Outcome = { readonly leaves: readonly RestoredLeaf[] } | { readonly error: unknown };

/**
 * Restores into memory without templates, or onto a device with those of the whole step. An error of its own where a buffer stays, where
 * it takes too long, or where more memory is asked for at once than the arrays and the budget take together.
 */
async function outcomeOf({ step, templates, leaves: declaredLeaves }: Whole, files: Files, way: "memory" | "device"): Promise<Outcome> {
  const device = new FakeDevice();
  const declared = declaredLeaves.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const placed = way === "device" ? { device: device.gpu, enableX64: true, templates } : {};
  const store = new OrbaxCheckpointStore(memoryStorage(files), { readConcurrentBytes: budget });
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${watchdogMs} ms`)), watchdogMs);
  });
  const { value: outcome, largest } = await watchAllocations(() =>
    Promise.race([store.restore(step, placed), tooLong]).then(
      (checkpoint) => {
        const leaves = restoredLeaves(checkpoint.items).map((leaf) => ({ ...leaf, bytes: leaf.bytes.slice() }));
        checkpoint.destroy();
        return { leaves };
      },
      (error: unknown) => ({ error }),
    ),
  );
  clearTimeout(timer);
  if (device.alive.length > 0) return { error: new Error(`${device.alive.length} buffers are left`) };
  if (largest > declared + budget) return { error: new Error(`${largest} bytes were asked for, of ${declared} declared`) };
  return outcome;
}

const without = (files: Files, path: string, bytes: Uint8Array): Files => new Map(files).set(path, bytes);

const describeOutcome = (outcome: Outcome) => ("error" in outcome ? `${outcome.error}` : `${outcome.leaves.length} leaves`);

/** Damage of bytes under a checksum is told with file and offset, else the same comes back as before. */
function judge(whole: Whole, path: string, damaged: readonly NeededBytes[], outcome: Outcome): boolean {
  if (damaged.length === 0) return "leaves" in outcome && sameLeaves(outcome.leaves, whole.leaves);
  if (damaged.every(({ kind }) => kind === "manifest" || kind === "node")) {
    if (!("error" in outcome && outcome.error instanceof CorruptCheckpointError)) return false;
    const { offset = -1 } = outcome.error;
    return outcome.error.path === path && damaged.some((bytes) => offset >= bytes.offset && offset <= endOf(bytes));
  }
  if ("error" in outcome) return isCheckpointError(outcome.error) && namesFileFromRoot(whole, outcome.error);
  return fits(whole, outcome.leaves);
}

/** Whether an error that names a file names one of the step's, or a key that could be in its database. */
const namesFileFromRoot = ({ step, files }: Whole, error: object): boolean =>
  !("path" in error) || (typeof error.path === "string" && (files.has(error.path) || error.path.startsWith(`${step}/`)));

/** Whether every array is one of the step's, in shape and size. */
function fits(whole: Whole, leaves: readonly RestoredLeaf[]): boolean {
  const specs = new Map(whole.leaves.map(({ path, spec, bytes }) => [path, `${spec} ${bytes.length}`]));
  return leaves.every(({ path, spec, bytes }) => spec === "" || specs.get(path) === `${spec} ${bytes.length}`);
}

describe.each(fixtures)("%s %i, damaged", async (fixture, step) => {
  const whole = await readWhole(fixture, step);

  it("is restored in both ways where it is whole", async () => {
    for (const way of ["memory", "device"] as const) {
      expect(judge(whole, "", [], await outcomeOf(whole, whole.files, way))).toBe(true);
    }
  });

  it(`in files that are not needed, each cut at ${truncationsEach} points, comes back as it is`, async () => {
    const unneeded = [...whole.files.keys()].filter((path) => !whole.needed.some((bytes) => bytes.path === path));
    for (let point = 0; point < truncationsEach; point++) {
      const files = new Map(whole.files);
      for (const path of unneeded) {
        const bytes = files.get(path) ?? new Uint8Array();
        files.set(path, bytes.subarray(0, Math.floor((bytes.length * point) / truncationsEach)));
      }
      const outcome = await outcomeOf(whole, files, point % 2 === 0 ? "memory" : "device");
      expect(judge(whole, "", [], outcome), describeOutcome(outcome)).toBe(true);
    }
  });

  it(`by a file that is cut at ${truncationsEach} points is told, or fits`, async () => {
    const failures: string[] = [];
    for (const path of new Set(whole.needed.map((bytes) => bytes.path))) {
      const bytes = whole.files.get(path) ?? new Uint8Array();
      for (let point = 0; point < truncationsEach; point++) {
        const length = Math.floor((bytes.length * point) / truncationsEach);
        const lost = whole.needed.filter((needed) => needed.path === path && endOf(needed) > length);
        const outcome = await outcomeOf(
          whole,
          without(whole.files, path, bytes.subarray(0, length)),
          point % 2 === 0 ? "memory" : "device",
        );
        const isTold = "error" in outcome || lost.every(({ kind }) => kind === "json");
        if (!isTold || !judge(whole, path, lost, outcome)) failures.push(`${path} cut to ${length}: ${describeOutcome(outcome)}`);
      }
    }
    expect(failures).toEqual([]);
  });

  it(`by one of ${flipsEach} flipped bits is told, or fits`, async () => {
    const random = seeded(step * 1000 + fixture.length);
    const failures: string[] = [];
    for (let flip = 0; flip < flipsEach; flip++) {
      const { path, at } = placeOfFlip(whole, random);
      const bytes = (whole.files.get(path) ?? new Uint8Array()).slice();
      const bit = Math.floor(random() * 8);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
      const damaged = whole.needed.filter((needed) => needed.path === path && at >= needed.offset && at < endOf(needed));
      const outcome = await outcomeOf(whole, without(whole.files, path, bytes), flip % 2 === 0 ? "memory" : "device");
      if (!judge(whole, path, damaged, outcome)) failures.push(`${path} byte ${at} bit ${bit}: ${describeOutcome(outcome)}`);
    }
    expect(failures).toEqual([]);
  });
});

/** Three in four flips hit what a restore needs, spread over its ranges; the others any file. */
function placeOfFlip({ files, needed }: Whole, random: () => number): { readonly path: string; readonly at: number } {
  const whole = Array.from(files, ([path, { length }]) => ({ path, offset: 0, length }));
  const places = (random() < 0.75 ? needed : whole).filter(({ length }) => length > 0);
  const { path, offset, length } = places[Math.floor(random() * places.length)] ?? { path: "", offset: 0, length: 0 };
  return { path, at: offset + Math.floor(random() * length) };
}

/** Numbers from 0 up to 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
