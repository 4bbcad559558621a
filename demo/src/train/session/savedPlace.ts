import { copySteps, memoryStorage, OrbaxCheckpointStore, opfsStorage, zipSteps, zipStorage } from "orbax-webgpu";
import { bundledStep, mirror } from "../../session/bundled.js";
import type { DigitsRun } from "../run/digitsRun.js";
import { type Place, readSavedSteps, type SavedSteps } from "./savedSteps.js";

/** The folder in the browser's own files. */
const folder = "digits-training";

/** Steps that stay; older ones go when a newer one is saved. */
export const maxToKeep = 6;

/** What a run can begin with. */
export type Origin = number | "python";

/** Where the page keeps its steps: the browser's files, or memory. */
export class SavedPlace {
  readonly #place: Place;
  readonly #python = new OrbaxCheckpointStore(mirror);

  constructor(where: "files" | "memory") {
    const storage = where === "files" ? opfsStorage(folder) : memoryStorage();
    this.#place = { storage, store: new OrbaxCheckpointStore(storage, { maxToKeep }) };
  }

  /** All steps. @throws StorageError `"unavailable"` where there are no such files. */
  list(signal: AbortSignal): Promise<SavedSteps> {
    return readSavedSteps(this.#place, signal);
  }

  open(origin: Origin, signal: AbortSignal) {
    return origin === "python" ? this.#python.open(bundledStep, { signal }) : this.#place.store.open(origin, { signal });
  }

  /**
   * Saves the run's step.
   * @param origin the step that the run went on from: later ones, which are not the run's own, are deleted first, as a save has to be the latest.
   */
  async save(run: DigitsRun, origin: number, signal: AbortSignal): Promise<void> {
    for (const step of await this.#place.store.listSteps({ signal })) {
      if (step > origin) await this.#place.store.delete(step, { signal });
    }
    await this.#place.store.save(run.step, run.items(), { ...run.saveOptions(), overwrite: true, signal });
  }

  delete(step: number, signal: AbortSignal): Promise<void> {
    return this.#place.store.delete(step, { signal });
  }

  /** All steps as a ZIP; the browser keeps a large one on its disk. */
  exported(signal: AbortSignal): Promise<Blob> {
    return new Response(zipSteps(this.#place.storage, { signal })).blob();
  }

  /** Adds the steps of a ZIP; the highest of them. @throws CheckpointNotWrittenError `"exists"`, with nothing added, where one is there. */
  async import(zip: Blob, signal: AbortSignal): Promise<number | undefined> {
    return (await copySteps(zipStorage(zip), this.#place.storage, { signal })).at(-1);
  }
}
