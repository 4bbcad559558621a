import { aSignal, aText, integerFrom, oneOf, orNull, requireArgument, requireOptions } from "../arguments.js";
import { StorageError } from "../errors.js";
import type { ReadableStorage, WritableStorage } from "../storage/storage.js";
import { asyncDispose } from "../tasks/asyncDispose.js";
import type { TaskContext } from "../tasks/context.js";
import { withSteadyProgress } from "../tasks/steadyProgress.js";
import { stopTogether } from "../tasks/stopTogether.js";
import { type CheckpointDirectory, directoryName, requireDirectory } from "./directory.js";
import { type OpenedDirectory, openDirectory } from "./openDirectory.js";
import { type Checkpoint, type OpenedStep, openedStep, type RestoredCheckpoint } from "./openedStep.js";
import { openStep, readRecord, type StepIndex } from "./openStep.js";
import { readFreely } from "./readAgain.js";
import type { CheckpointMetadata } from "./record/record.js";
import {
  defaultReadConcurrentBytes,
  type RestoreDefaults,
  type RestoreOptions,
  restoreDefaultRules,
  stepRestoreRules,
  type WholeRestoreOptions,
} from "./restore/restoreOptions.js";
import { type OpeningStep, unlessReplaced } from "./sameSave.js";
import type { SaveableItems } from "./save/saveable.js";
import type { LockOptions, SaveOptions } from "./save/saveOptions.js";
import type { WritableRoot } from "./save/writableRoot.js";
import { bestOf, requireStep } from "./steps.js";
import type { Templates } from "./template/restoredTypes.js";
import { unlessChanged } from "./unlessChanged.js";

/** Options of a store. */
export interface StoreOptions<Device extends GPUDevice | undefined = GPUDevice | undefined> extends RestoreDefaults<Device> {
  /** How many steps a save leaves: an integer from 1, or null for all; 5 by default. */
  readonly maxToKeep?: number | null | undefined;
}

/** Options of calls that only read. */
export type ReadStepOptions = Pick<TaskContext, "signal">;

/** What compares the steps of {@link CheckpointStore.bestStep}. */
export interface BestStepOptions extends ReadStepOptions {
  /** `"min"` (default): the lowest value is best. */
  readonly mode?: "min" | "max" | undefined;
}

/**
 * A save on its way: the path of the step's folder, when it is committed. `taken` resolves earlier, when the last byte of every array was read:
 * until then buffers and arrays may not change, or the step holds some bytes from before and some from after. It rejects as the save does.
 */
export interface Saving extends Promise<string> {
  readonly taken: Promise<void>;
}

/** Checkpoints by step: substrax's `CheckpointStore` protocol. */
export interface CheckpointStore<StoreDevice extends GPUDevice | undefined = undefined> extends AsyncDisposable {
  /** Reads a step's index: what it holds, before a device or a template exists. Throws as {@link OrbaxCheckpointStore.restore}. */
  open(step: number, options?: ReadStepOptions): Promise<OpenedStep<StoreDevice>>;
  /** Restores a step. */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options?: WholeRestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device>>;
  /** Restores a step, or what is asked for of it. */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options: RestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device, "part">>;
  /** Reads only a step's record. */
  readMetadata(step: number, options?: ReadStepOptions): Promise<CheckpointMetadata>;
  /** All steps, ascending. */
  listSteps(options?: ReadStepOptions): Promise<number[]>;
  /** The highest step; null where there is none. */
  latestStep(options?: ReadStepOptions): Promise<number | null>;
  /** The step whose metric is best; null where no step has it. */
  bestStep(metric: string, options?: BestStepOptions): Promise<number | null>;
  /** Saves a step. */
  save(step: number, items: SaveableItems, options?: SaveOptions): Saving;
  /** Deletes a step. */
  delete(step: number, options?: LockOptions): Promise<void>;
  /** Lets go of what the store holds open. */
  close(): Promise<void>;
}

/** What `save` and `delete` are called on: nothing, where the directory can only be read. */
type OnlyWritable<Directory, Store> = [Extract<Directory, string | WritableStorage>] extends [never] ? never : Store;

/**
 * Checkpoints as substrax's `OrbaxCheckpointStore` keeps them: a root directory with a folder for each step, which Python reads and writes, too.
 * Opened on first use; constructing one touches nothing, and the folder appears with the first save. A closed store opens again on use.
 */
export class OrbaxCheckpointStore<
  StoreDevice extends GPUDevice | undefined = undefined,
  Directory extends CheckpointDirectory = CheckpointDirectory,
> implements CheckpointStore<StoreDevice>
{
  readonly #directory: Directory;
  readonly #defaults: RestoreDefaults<StoreDevice>;
  readonly #maxToKeep: number | null;
  #opened: OpenedDirectory | undefined;

  /** @throws CheckpointValueError for a blank directory, or an option outside its range. */
  constructor(directory: Directory, options: StoreOptions<StoreDevice> = {}) {
    requireDirectory(directory);
    requireOptions("OrbaxCheckpointStore", options, storeRules);
    this.#directory = directory;
    this.#defaults = options;
    this.#maxToKeep = options.maxToKeep === undefined ? 5 : options.maxToKeep;
  }

  /**
   * Opens a step: its record and the index of each item are read, but no chunk.
   * @throws CheckpointNotFoundError where there is no such step.
   * @throws UnsupportedCheckpointError for a step of another writer, format or version.
   * @throws CheckpointValidationError for a malformed record, CorruptCheckpointError for damaged files, StorageError where the place fails.
   */
  async open(step: number, options: ReadStepOptions = {}): Promise<OpenedStep<StoreDevice>> {
    requireOptions("open", options, stepRules);
    const opening = this.#opening(step);
    return openedStep(await unlessChanged(() => opening(options)), this.#defaults, opening);
  }

  /** Opens a step and restores its items onto the templates. Throws as {@link open} and {@link OpenedStep.restore}. */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options?: WholeRestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device>>;
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options: RestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device, "part">>;
  async restore(step: number, options: RestoreOptions & { readonly templates?: Templates } = {}): Promise<never> {
    requireOptions("restore", options, stepRestoreRules);
    requireStep(step, this.#name);
    const restore = (steady: typeof options) => this.#restore(step, steady);
    return withSteadyProgress(restore, options, (checkpoint) => checkpoint.destroy()) as Promise<never>;
  }

  /** Reads only a step's record. Throws as {@link open}. */
  async readMetadata(step: number, options: ReadStepOptions = {}): Promise<CheckpointMetadata> {
    requireOptions("readMetadata", options, stepRules);
    requireStep(step, this.#name);
    const { access } = this.#open();
    return stopTogether((together) => access.read(step, (root) => readRecord(root, step, this.#name, together), together), options);
  }

  /**
   * All steps, ascending: the folders that a number names, as Orbax counts them on a disk, where unfinished saves have other names. Read each
   * time, so that other writers' steps are seen. Empty where the directory does not exist.
   * @throws StorageError `"cannot-list"` for a web server without directory listings: give the step to `restore` then.
   */
  async listSteps(options: ReadStepOptions = {}): Promise<number[]> {
    requireOptions("listSteps", options, stepRules);
    return stopTogether((together) => this.#open().access.listSteps(together), options);
  }

  /** The highest step; null where there is none. Throws as {@link listSteps}. */
  async latestStep(options: ReadStepOptions = {}): Promise<number | null> {
    requireOptions("latestStep", options, stepRules);
    return (await this.listSteps(options)).at(-1) ?? null;
  }

  /**
   * The step whose metric is best, the lowest of equals; NaN never is. Null where no step has the metric.
   * @throws CheckpointValueError for another mode; else as {@link listSteps} and {@link readMetadata}: every step's record is read.
   */
  async bestStep(metric: string, options: BestStepOptions = {}): Promise<number | null> {
    requireArgument("the metric that bestStep takes", metric, aText);
    requireOptions("bestStep", options, bestStepRules);
    const { access } = this.#open();
    const steps = await this.listSteps({ signal: options.signal });
    const recordsIn = (root: ReadableStorage, together: TaskContext) =>
      Promise.all(steps.map(async (step) => [step, await readRecord(root, step, this.#name, together)] as const));
    const records = await stopTogether((together) => access.read(undefined, (root) => recordsIn(root, together), together), options);
    return bestOf(new Map(records), metric, options.mode ?? "min");
  }

  /**
   * Saves items as a step, which substrax and Orbax restore. When it resolves the step is committed: whatever happens from then on, it is
   * there whole, and until then what was there before is unchanged, also with `overwrite`. Steps beyond `maxToKeep` go after it, the lowest
   * first, and never the one just written. Memory holds some pieces of the arrays, never all of them.
   * @throws CheckpointValueError for a bad argument, and naming every leaf that cannot be saved: before anything is touched.
   * @throws CheckpointNotWrittenError where the step exists, lies below the latest, or the place does not take it (see its cause).
   * @throws StorageError `"read-only"` for a directory that can only be read, DeviceError where a device fails, the signal's reason on abort.
   */
  save(
    this: OnlyWritable<Directory, OrbaxCheckpointStore<StoreDevice, Directory>>,
    step: number,
    items: SaveableItems,
    options: SaveOptions = {},
  ): Saving {
    let takenNow = () => {};
    const isTaken = new Promise<void>((resolve) => {
      takenNow = resolve;
    });
    const saved = this.#save(step, items, options, () => takenNow());
    const taken = Promise.race([isTaken, saved.then(() => undefined)]);
    taken.catch(() => undefined); // who waits for the save alone hears of it there
    return Object.assign(saved, { taken });
  }

  /**
   * Deletes a step.
   * @throws CheckpointNotFoundError where there is no such step, StorageError where the place fails or can only be read. The step is as it was
   *   then.
   */
  async delete(
    this: OnlyWritable<Directory, OrbaxCheckpointStore<StoreDevice, Directory>>,
    step: number,
    options: LockOptions = {},
  ): Promise<void> {
    requireStep(step, this.#name);
    const { deleteStep } = await loadSaving();
    await deleteStep(() => this.#requireWritable(), step, options);
  }

  /** Lets go of the storage; the next call opens it again. */
  async close(): Promise<void> {
    this.#opened = undefined;
  }

  async [asyncDispose](): Promise<void> {
    await this.close();
  }

  async #save(step: number, items: SaveableItems, options: SaveOptions, taken: () => void): Promise<string> {
    const concurrentBytes = this.#defaults.readConcurrentBytes ?? defaultReadConcurrentBytes;
    const { saveItems } = await loadSaving();
    const root = () => this.#requireWritable();
    return saveItems(root, items, { step, options, policy: { maxToKeep: this.#maxToKeep, concurrentBytes }, taken });
  }

  /** In one version of the step, and once more where its files changed meanwhile. */
  #restore(step: number, options: RestoreOptions & { readonly templates?: Templates }): Promise<Checkpoint<unknown>> {
    const { access } = this.#open();
    return unlessChanged(() => {
      let opened: StepIndex | undefined;
      const restoreIn = async (root: ReadableStorage): Promise<Checkpoint<unknown>> => {
        opened = await openStep(root, step, this.#name, options);
        return openedStep({ value: opened, again: readFreely }, this.#defaults).restore(options);
      };
      const restore = () => access.read(step, restoreIn, options, (checkpoint) => checkpoint.destroy());
      return unlessReplaced(restore, () => opened, this.#opening(step), options);
    });
  }

  /** What opens a step, each time as it is then. */
  #opening(step: number): OpeningStep {
    requireStep(step, this.#name);
    const { access } = this.#open();
    return (context) => access.open(step, (root) => openStep(root, step, this.#name, context), context);
  }

  get #name(): string {
    return directoryName(this.#directory);
  }

  #open(): OpenedDirectory {
    this.#opened ??= openDirectory(this.#directory);
    return this.#opened;
  }

  #requireWritable(): WritableRoot {
    const { root } = this.#open();
    if (root !== undefined) return root;
    const message = `${this.#name} can only be read; save to a folder in OPFS, or to a storage with create, write, move and remove`;
    throw new StorageError({ path: "", reason: "read-only", message });
  }
}

/** What only those need who save: loaded when the first does. */
const loadSaving = () => import("./save/saving.js");

const storeRules = { ...restoreDefaultRules, maxToKeep: orNull(integerFrom(1)) };

const stepRules = { signal: aSignal };

const bestStepRules = { ...stepRules, mode: oneOf("min", "max") };
