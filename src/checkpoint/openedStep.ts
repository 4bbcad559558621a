import { requireOptions } from "../arguments.js";
import { CheckpointValueError } from "../errors.js";
import type { BufferLimits } from "../gpu/limits.js";
import { withSteadyProgress } from "../tasks/steadyProgress.js";
import { type LeafInfo, leafInfos } from "./item/leafInfo.js";
import type { RestoredLeaf, RestoredTree } from "./item/leaves.js";
import type { ItemIndex } from "./item/openItem.js";
import { noteRestored } from "./item/origins.js";
import { metadataOfRecord } from "./metadata/orbaxMetadata.js";
import { type OpenedCheckpoint, openedCheckpoint, type Reading } from "./openedCheckpoint.js";
import type { StepIndex } from "./openStep.js";
import type { ReadOn } from "./readOn.js";
import type { CheckpointMetadata } from "./record/record.js";
import type { RestoredItems } from "./restore/restoreItems.js";
import { type RestoreDefaults, type RestoreOptions, stepRestoreRules, type WholeRestoreOptions } from "./restore/restoreOptions.js";
import { destroyOwned, limitsOf, onFirstCall, restoreOpened } from "./restoreOpened.js";
import { type OpeningStep, readSave } from "./sameSave.js";
import type { Opened } from "./stepAccess.js";
import type { Extent, RestoredItemsOf, Templates } from "./template/restoredTypes.js";

/**
 * A step whose index was read, before a device or a template exists. It stays the save that it was opened of: where a file changed since, what reads
 * on opens the step anew, once, and is StorageError `"changed"` where that is another save.
 */
export interface OpenedStep<StoreDevice extends GPUDevice | undefined = undefined> {
  readonly step: number;
  readonly metadata: CheckpointMetadata;
  /** Items by name, in the record's order. */
  readonly items: Readonly<Record<string, OpenedCheckpoint<StoreDevice>>>;
  /** Leaves of all items; paths begin with the item. */
  readonly leaves: readonly LeafInfo[];
  /** Limits to ask `requestDevice` for, in bytes, to hold every array of the step. */
  requiredLimits(): BufferLimits;
  /**
   * Restores all items.
   * @throws CheckpointValueError for templates of items that the step lacks.
   * @throws CheckpointDtypeMismatchError, then CheckpointTreeMismatchError, with all mismatches, before a chunk is requested or a buffer made.
   * @throws DeviceError where a device cannot hold or take the arrays.
   * @throws CorruptCheckpointError for damaged bytes, StorageError where the place fails, the signal's reason on abort.
   *   Every buffer that was made is destroyed then.
   */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    options?: WholeRestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device>>;
  /** Restores all items, or what is asked for of them. */
  restore<const T extends Templates = Record<never, never>, Device extends GPUDevice | undefined = StoreDevice>(
    options: RestoreOptions<Device> & { readonly templates?: T },
  ): Promise<RestoredCheckpoint<T, Device, "part">>;
}

/** A restored step. */
export interface Checkpoint<Items = Readonly<Record<string, RestoredTree>>> {
  readonly step: number;
  readonly items: Items;
  readonly metadata: CheckpointMetadata;
  /** Finds a leaf by item and path (keys joined with `/`, `""` for a bare leaf); undefined where there is none or it was skipped. */
  leaf(item: string, path: string): RestoredLeaf | undefined;
  /** Frees every GPUBuffer that the restore made; never one given as `into`. Further calls do nothing. */
  destroy(): void;
}

/** A restored step with the types that follow from its templates. The annotations spare the compiler a recursion without end. */
export interface RestoredCheckpoint<in out T extends Templates, in out Device, in out Of extends Extent = "whole">
  extends Checkpoint<RestoredItemsOf<T, Device, Of>> {}

/**
 * Makes an opened step of its index.
 * @param reopen opens it anew, once for each call that meets a file which changed since; without it that is an error.
 */
export function openedStep<StoreDevice extends GPUDevice | undefined>(
  first: Opened<StepIndex>,
  defaults: RestoreDefaults<StoreDevice>,
  reopen?: OpeningStep,
): OpenedStep<StoreDevice> {
  const index = first.value;
  const readStep = readSave(first, reopen);
  const leaves = onFirstCall(() => index.items.flatMap((item) => leafInfos(item.leaves, item.name)));
  return {
    step: index.step,
    metadata: index.metadata,
    items: Object.fromEntries(
      index.items.map((item, nth) => {
        const readItem: ReadOn<Reading> = (read, context) =>
          readStep(({ value, again }) => read({ opened: value, item: value.items[nth] ?? item, again }), context);
        return [item.name, openedCheckpoint(factsOf(index, item), item, readItem, defaults)];
      }),
    ),
    get leaves() {
      return leaves();
    },
    requiredLimits: () => limitsOf(index.items),
    async restore(options: RestoreOptions & { readonly templates?: Templates } = {}) {
      requireOptions("restore", options, stepRestoreRules);
      const wanted = { templates: givenTemplates(index, options.templates ?? {}), prefixOf: (item: string) => item };
      const restore = (steady: RestoreOptions) =>
        readStep(({ value, again }) => restoreOpened(value, wanted, steady, defaults, again), options);
      const restored = await withSteadyProgress(restore, options, destroyOwned);
      // The plan made every value by its template, so the tree has the type that follows from the templates, whatever that is: never fits all.
      return checkpointOf<never>(index, restored);
    },
  };
}

const factsOf = ({ step, metadata }: StepIndex, { name, folder }: ItemIndex) =>
  ({ kind: "root", step, item: name, path: folder, metadata: metadataOfRecord(metadata) }) as const;

/** The templates that are there; null counts as not given. */
function givenTemplates({ step, items }: StepIndex, templates: Templates): Templates {
  const names = items.map(({ name }) => name);
  const unknown = Object.keys(templates).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new CheckpointValueError(
      `templates name items the checkpoint lacks: ${JSON.stringify(unknown.sort())}; step ${step} holds ${JSON.stringify(names)}`,
    );
  }
  return Object.fromEntries(Object.entries(templates).filter(([, template]) => template !== null && template !== undefined));
}

function checkpointOf<Items>(index: StepIndex, { items, leaves, owned }: RestoredItems): Checkpoint<Items> {
  const { step, metadata } = index;
  // Of two leaves with one path, such as those of the keys "a/b" and "a" with "b" below, the first is found.
  const byPlace = onFirstCall(() => new Map(leaves.toReversed().map(({ item, path, value }) => [placeOf(item, path), value])));
  const checkpoint: Checkpoint<Items> = {
    step,
    metadata,
    items: items as Items,
    leaf: (item, path) => byPlace().get(placeOf(item, path)) as RestoredLeaf | undefined,
    destroy: () => destroyOwned({ owned }),
  };
  noteRestored(checkpoint, index.items);
  return checkpoint;
}

/** No item's name holds a NUL. */
const placeOf = (item: string, path: string): string => `${item}\0${path}`;
