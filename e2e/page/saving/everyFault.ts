import { OrbaxCheckpointStore, opfsStorage, type WritableStorage } from "orbax-webgpu";
import { type Fault, FaultyStorage } from "../../../src/checkpoint/save/faultyStorage.testing.js";

/** The seed of each step, from which its arrays follow. */
type Seeds = Readonly<Record<number, number>>;

/** What came of a fault at each change of an act. */
export interface FaultReport {
  readonly act: string;
  readonly kind: Fault["kind"];
  /** Changes of the act without a fault: each of them met one. */
  readonly changes: number;
  /** Acts that left everything as it was, and those that did all they were to do. */
  readonly undone: number;
  readonly done: number;
  readonly problems: readonly string[];
}

interface Act {
  readonly maxToKeep: number | null;
  readonly run: (store: OrbaxCheckpointStore, before: Seeds, seed: number) => Promise<unknown>;
  /** What is there when it is done. */
  readonly after: (before: Seeds, seed: number) => Seeds;
}

const stepsOf = (seeds: Seeds) => Object.keys(seeds).map(Number);
const next = (seeds: Seeds) => Math.max(0, ...stepsOf(seeds)) + 1;
const first = (seeds: Seeds) => Math.min(...stepsOf(seeds));

const save = (store: OrbaxCheckpointStore, step: number, seed: number, overwrite = false) =>
  store.save(step, itemsOf(seed), { metrics: { seed }, overwrite });

const acts: Readonly<Record<string, Act>> = {
  "a save": {
    maxToKeep: null,
    run: (store, before, seed) => save(store, next(before), seed),
    after: (before, seed) => ({ ...before, [next(before)]: seed }),
  },
  "an overwrite": {
    maxToKeep: null,
    run: (store, before, seed) => save(store, first(before), seed, true),
    after: (before, seed) => ({ ...before, [first(before)]: seed }),
  },
  "a delete": {
    maxToKeep: null,
    run: (store, before) => store.delete(first(before)),
    after: (before) => Object.fromEntries(Object.entries(before).filter(([step]) => Number(step) !== first(before))),
  },
  "a retention pass": {
    maxToKeep: 1,
    run: (store, before, seed) => save(store, next(before), seed),
    after: (before, seed) => ({ [next(before)]: seed }),
  },
};

/** Lets OPFS fail, and stop, at every change of each act, one after the other in a directory; different acts at once. */
export const everyFault = (directory: string): Promise<FaultReport[]> =>
  Promise.all(
    Object.entries(acts).flatMap(([name, act]) =>
      (["fails", "stops"] as const).map((kind) => faultsOf(name, act, kind, opfsStorage(`${directory}/${name} ${kind}`))),
    ),
  );

async function faultsOf(name: string, act: Act, kind: Fault["kind"], storage: WritableStorage): Promise<FaultReport> {
  const problems: string[] = [];
  let undone = 0;
  let done = 0;
  let before: Seeds = {};
  for (let at = 0; ; at++) {
    before = await withTwoSteps(storage, before, at);
    const faulty = new FaultyStorage(storage, { at, kind });
    const seed = 1000 + at;
    const isResolved = await act.run(new OrbaxCheckpointStore(faulty.storage, act), before, seed).then(
      () => true,
      () => false,
    );
    const found = await seedsOf(storage);
    const after = act.after(before, seed);
    const problem = problemOf(before, after, found) ?? (isResolved && act.maxToKeep === null ? problemOf(after, after, found) : undefined);
    const left = await leftIn(storage, found);
    for (const each of [problem, left]) if (each !== undefined) problems.push(`${name}, ${kind} at ${at}: ${each}`);
    if (sameSeeds(found, before)) undone += 1;
    if (sameSeeds(found, after)) done += 1;
    if (faulty.changes <= at) return { act: name, kind, changes: at, undone, done, problems };
    before = found;
  }
}

/** Each step is as before or as after, and none of before has gone unless what was to come is there. */
function problemOf(before: Seeds, after: Seeds, found: Seeds): string | undefined {
  const isCommitted = stepsOf(after).every((step) => found[step] === after[step]);
  const wrong = [...new Set([...stepsOf(before), ...stepsOf(after), ...stepsOf(found)])].filter((step) =>
    isCommitted ? ![before[step], after[step]].includes(found[step]) : found[step] !== before[step],
  );
  return wrong.length === 0 ? undefined : `of ${JSON.stringify({ before, after, found })} these are wrong: ${wrong.join(", ")}`;
}

/** What an opened store has left there that is no step. */
async function leftIn(storage: WritableStorage, seeds: Seeds): Promise<string | undefined> {
  const { files, directories } = await storage.list("");
  const others = [...files, ...directories.filter((name) => !(name in seeds))];
  return others.length === 0 ? undefined : `${others.join(", ")} was left`;
}

/** Removes and adds steps until there are two; what is there then. */
async function withTwoSteps(storage: WritableStorage, before: Seeds, at: number): Promise<Seeds> {
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
  const seeds = { ...before };
  while (stepsOf(seeds).length > 2) {
    await store.delete(first(seeds));
    delete seeds[first(seeds)];
  }
  while (stepsOf(seeds).length < 2) {
    const step = next(seeds);
    seeds[step] = 10 * at + step;
    await save(store, step, 10 * at + step);
  }
  return seeds;
}

const length = 300;

/** Items in tree order, whose files differ from one seed to the next, so that an overwrite leaves some over. */
const itemsOf = (seed: number) => ({
  model: { ...(seed % 2 === 1 && { name: `seed ${seed}` }), w: Float32Array.from({ length }, (_, index) => index + seed) },
});

/** What a new store finds: the seed of each step, -1 for one that is not whole. */
async function seedsOf(storage: WritableStorage): Promise<Seeds> {
  const store = new OrbaxCheckpointStore(storage);
  const found: Record<number, number> = {};
  for (const step of await store.listSteps()) {
    const restored = await store.restore(step).catch(() => undefined);
    const seed = restored?.metadata.metrics.seed ?? -1;
    found[step] = JSON.stringify(restored?.items, plainArrays) === JSON.stringify(itemsOf(seed), plainArrays) ? seed : -1;
  }
  return found;
}

/** For JSON: a restored array and the array that it was made of are one. */
function plainArrays(_: string, value: unknown): unknown {
  const data = (value as { readonly data?: unknown } | null)?.data ?? value;
  return data instanceof Float32Array ? Array.from(data) : value;
}

const sameSeeds = (a: Seeds, b: Seeds): boolean => JSON.stringify(a) === JSON.stringify(b);
