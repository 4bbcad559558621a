import { CheckpointValueError } from "../errors.js";
import { checkedStorage } from "../storage/checked.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { stopTogether } from "../tasks/stopTogether.js";
import { type CheckpointDirectory, directoryName, requireDirectory, storageOf } from "./directory.js";
import { type OpenedStep, openedStep, type RestoredCheckpoint } from "./openedStep.js";
import { openStep, readRecord } from "./openStep.js";
import type { CheckpointMetadata } from "./record/record.js";
import { type RestoreDefaults, type RestoreOptions, requireReadConcurrentBytes } from "./restore/restoreOptions.js";
import { bestOf, listStepFolders, requireStep } from "./steps.js";
import type { Templates } from "./template/restoredTypes.js";

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

/** Checkpoints by step: the part of substrax's `CheckpointStore` protocol that reads. */
export interface CheckpointStore<StoreDevice extends GPUDevice | undefined = undefined> extends AsyncDisposable {
  /** Reads a step's index: what it holds, before a device or a template exists. Throws as {@link OrbaxCheckpointStore.restore}. */
  open(step: number, options?: ReadStepOptions): Promise<OpenedStep<StoreDevice>>;
  /** Restores a step. */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options?: RestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device>>;
  /** Reads only a step's record. */
  readMetadata(step: number, options?: ReadStepOptions): Promise<CheckpointMetadata>;
  /** All finished steps, ascending. */
  listSteps(options?: ReadStepOptions): Promise<number[]>;
  /** The highest step; null where there is none. */
  latestStep(options?: ReadStepOptions): Promise<number | null>;
  /** The step whose metric is best; null where no step has it. */
  bestStep(metric: string, options?: BestStepOptions): Promise<number | null>;
  /** Lets go of what the store holds open. */
  close(): Promise<void>;
}

/**
 * Reads the checkpoints that substrax's `OrbaxCheckpointStore` wrote: a root directory with a folder for each step.
 * Opened on first use; constructing one touches nothing. A closed store opens again on use.
 */
export class OrbaxCheckpointStore<StoreDevice extends GPUDevice | undefined = undefined> implements CheckpointStore<StoreDevice> {
  readonly #directory: CheckpointDirectory;
  readonly #defaults: RestoreDefaults<StoreDevice>;
  #storage: ReadableStorage | undefined;

  /** @throws CheckpointValueError for a blank directory, or an option outside its range. */
  constructor(directory: CheckpointDirectory, options: StoreOptions<StoreDevice> = {}) {
    requireDirectory(directory);
    requireMaxToKeep(options.maxToKeep ?? null);
    requireReadConcurrentBytes(options.readConcurrentBytes);
    this.#directory = directory;
    this.#defaults = options;
  }

  /**
   * Opens a step: its record and the index of each item are read, but no chunk.
   * @throws CheckpointNotFoundError where there is no such step.
   * @throws UnsupportedCheckpointError for a step of another writer, format or version.
   * @throws CheckpointValidationError for a malformed record, CorruptCheckpointError for damaged files, StorageError where the place fails.
   */
  async open(step: number, options: ReadStepOptions = {}): Promise<OpenedStep<StoreDevice>> {
    requireStep(step, this.#name);
    return openedStep(await openStep(this.#open(), step, this.#name, options), this.#defaults);
  }

  /** Opens a step and restores its items onto the templates. Throws as {@link open} and {@link OpenedStep.restore}. */
  async restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    step: number,
    options: RestoreOptions<Device> & { readonly templates?: T } = {},
  ): Promise<RestoredCheckpoint<T, Device>> {
    const opened = await this.open(step, options);
    return opened.restore(options);
  }

  /** Reads only a step's record. Throws as {@link open}. */
  async readMetadata(step: number, options: ReadStepOptions = {}): Promise<CheckpointMetadata> {
    requireStep(step, this.#name);
    return stopTogether((together) => readRecord(this.#open(), step, this.#name, together), options);
  }

  /**
   * All finished steps, ascending; read each time, so that other writers' steps are seen. Empty where the directory does not exist.
   * @throws StorageError `"cannot-list"` for a web server without directory listings: give the step to `restore` then.
   */
  async listSteps(options: ReadStepOptions = {}): Promise<number[]> {
    return stopTogether((together) => listStepFolders(this.#open(), together), options);
  }

  /** The highest step; null where there is none. Throws as {@link listSteps}. */
  async latestStep(options: ReadStepOptions = {}): Promise<number | null> {
    return (await this.listSteps(options)).at(-1) ?? null;
  }

  /**
   * The step whose metric is best, the lowest of equals; NaN never is. Null where no step has the metric.
   * @throws CheckpointValueError for another mode; else as {@link listSteps} and {@link readMetadata}: every step's record is read.
   */
  async bestStep(metric: string, { mode = "min", ...options }: BestStepOptions = {}): Promise<number | null> {
    if (mode !== "min" && mode !== "max") throw new CheckpointValueError(`mode must be "min" or "max", got ${JSON.stringify(mode)}`);
    const steps = await this.listSteps(options);
    const records = await stopTogether(
      (together) => Promise.all(steps.map(async (step) => [step, await this.readMetadata(step, together)] as const)),
      options,
    );
    return bestOf(new Map(records), metric, mode);
  }

  /** Lets go of the storage; the next call opens it again. */
  async close(): Promise<void> {
    this.#storage = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #name(): string {
    return directoryName(this.#directory);
  }

  #open(): ReadableStorage {
    this.#storage ??= checkedStorage(storageOf(this.#directory));
    return this.#storage;
  }
}

function requireMaxToKeep(maxToKeep: number | null): void {
  if (maxToKeep === null || (Number.isSafeInteger(maxToKeep) && maxToKeep >= 1)) return;
  throw new CheckpointValueError(`maxToKeep is null or an integer of at least 1, not ${maxToKeep}`);
}
