import { isCheckpointError, OrbaxCheckpointStore } from "orbax-webgpu";
import { randomFrom } from "../random.js";
import { seededItems } from "./seededItems.js";
import { seedOf } from "./seededSteps.js";

/** What a loop of restores met. */
export interface RestoreLoop {
  /** Restores with the right values. */
  readonly right: number;
  /** Restores that were told that the step is not there, or no longer. */
  readonly notFound: number;
  /** What else came, which none of it should. */
  readonly problems: readonly string[];
}

/** Restores steps picked at random until it is stopped; now and then one that was deleted long ago. */
export async function restoreLoop(directory: string, isEnough: (so: { right: number; notFound: number }) => boolean): Promise<RestoreLoop> {
  const random = randomFrom(7);
  const store = new OrbaxCheckpointStore(directory);
  const problems: string[] = [];
  let right = 0;
  let notFound = 0;
  while (!isEnough({ right, notFound })) {
    try {
      const steps = await store.listSteps();
      const step = random.pick(steps);
      const found = await seedOf(store, random.integer(0, 9) === 0 ? Math.max(0, step - 3) : step);
      if (typeof found === "number") right++;
      else problems.push(found);
    } catch (error) {
      if (isCheckpointError(error, "NotFound")) notFound++;
      else problems.push(String(error));
    }
  }
  return { right, notFound, problems };
}

/** Saves, overwrites and deletes steps, of which three stay; how many changes it made. */
export async function changeLoop(directory: string, changes: number, bytes: number): Promise<number> {
  const random = randomFrom(8);
  const store = new OrbaxCheckpointStore(directory, { maxToKeep: 3 });
  for (let seed = 0; seed < changes; seed++) {
    const steps = await store.listSteps();
    const latest = steps.at(-1) ?? 0;
    const kind = random.integer(0, 5);
    if (kind === 0 && steps.length > 1) await store.delete(random.pick(steps));
    else {
      const overwrite = kind >= 4 && steps.length > 0;
      const step = overwrite ? random.pick(steps) : latest + 1;
      await store.save(step, seededItems({ seed, bytes }), { metrics: { seed, bytes }, overwrite });
    }
  }
  return changes;
}
