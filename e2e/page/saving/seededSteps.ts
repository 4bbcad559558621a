import { isCheckpointError, OrbaxCheckpointStore } from "orbax-webgpu";
import { problemOfSeeded, type Seeded, seededItems } from "./seededItems.js";

/** A save for {@link saveSeeded}. */
export interface SeededSave extends Seeded {
  readonly step: number;
  readonly maxToKeep: number | null;
  readonly overwrite?: boolean;
}

/** How far a save can be beyond all of its bytes. */
const farther = { committed: 2, resolved: 3 } as const;

/** Saves seeded items, and tells how far it is: the share of its bytes that were written, 2 once committed, 3 once resolved. */
export async function saveSeeded(directory: string, save: SeededSave, tell: (far: number) => void = () => {}): Promise<void> {
  const { seed, bytes, step, maxToKeep, overwrite = false } = save;
  const items = seededItems(save);
  tell(0);
  await new OrbaxCheckpointStore(directory, { maxToKeep }).save(step, items, {
    metrics: { seed, bytes },
    overwrite,
    onProgress: ({ phase, loadedBytes, totalBytes }) => tell(phase === "done" ? farther.committed : loadedBytes / totalBytes),
  });
  tell(farther.resolved);
}

/** All steps of a directory: the seed of each that is whole, and of others what is wrong. */
export async function seedsOf(directory: string): Promise<Record<number, number | string>> {
  const store = new OrbaxCheckpointStore(directory);
  const found: Record<number, number | string> = {};
  for (const step of await store.listSteps()) found[step] = await seedOf(store, step).catch(String);
  return found;
}

/** The seed of a step's items; what is wrong with them as text. Rejects as a restore. */
export async function seedOf(store: OrbaxCheckpointStore, step: number): Promise<number | string> {
  const opened = await store.open(step);
  const { items, metadata } = await opened.restore();
  const { seed = -1, bytes = -1 } = metadata.metrics;
  return problemOfSeeded(items, { seed, bytes }) ?? seed;
}

/** Saves steps, each the latest plus one, and another where somebody was faster; the steps that it saved. */
export async function saveLatest(directory: string, seeds: readonly number[], bytes: number): Promise<number[]> {
  const store = new OrbaxCheckpointStore(directory, { maxToKeep: null });
  const saved: number[] = [];
  for (const seed of seeds) {
    for (let isSaved = false; !isSaved; ) {
      const step = ((await store.latestStep()) ?? 0) + 1;
      isSaved = await store.save(step, seededItems({ seed, bytes }), { metrics: { seed, bytes } }).then(
        () => true,
        (error: unknown) => {
          if (isCheckpointError(error, "NotWritten") && error.reason !== "rejected") return false;
          throw error;
        },
      );
      if (isSaved) saved.push(step);
    }
  }
  return saved;
}
