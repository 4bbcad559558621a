import { aText, requireArgument, requireOptions } from "../arguments.js";
import type { Dtype } from "../arrays/dtypes.js";
import type { GpuArray } from "../gpu/gpuArray.js";
import type { BufferLimits } from "../gpu/limits.js";
import { withSteadyProgress } from "../tasks/steadyProgress.js";
import type { ItemLayout } from "./item/layout.js";
import { type LeafInfo, leafInfos, type StoredBytes } from "./item/leafInfo.js";
import type { RestoredArray } from "./item/leaves.js";
import type { ItemIndex } from "./item/openItem.js";
import { noteOpened } from "./item/origins.js";
import type { OrbaxMetadata } from "./metadata/orbaxMetadata.js";
import type { CheckpointKind } from "./place/place.js";
import type { ReadAgain } from "./readAgain.js";
import type { ReadOn } from "./readOn.js";
import {
  itemRestoreRules,
  type ReadArrayOptions,
  type RestoreDefaults,
  type RestoreOptions,
  readArrayRules,
  type WholeRestoreOptions,
} from "./restore/restoreOptions.js";
import {
  destroyOwned,
  expectRestore,
  limitsOf,
  type OpenedItems,
  onFirstCall,
  ownedOf,
  readOpened,
  restoreOpened,
} from "./restoreOpened.js";
import type { Placed, RestoredBy, Template } from "./template/restoredTypes.js";

/** What is known of an opened checkpoint beside its index. */
export interface CheckpointFacts {
  /** What was given to be opened. */
  readonly kind: CheckpointKind;
  /** The step that was opened, where one is known. */
  readonly step: number | undefined;
  /** The item of the step; undefined of a checkpoint without items. */
  readonly item: string | undefined;
  /** Its folder, from the place that was given, by the names that stand there; `""` for that itself. */
  readonly path: string;
  readonly metadata: OrbaxMetadata;
}

/** A checkpoint whose index was read: its leaves are known before any download. */
export interface OpenedCheckpoint<StoreDevice extends GPUDevice | undefined = undefined> extends CheckpointFacts {
  /** How its bytes lie. */
  readonly layout: ItemLayout;
  readonly leaves: readonly LeafInfo[];
  /** Limits to ask `requestDevice` for, in bytes, to hold every array of the item. */
  requiredLimits(): BufferLimits;
  /**
   * Restores the item's tree.
   * @throws CheckpointDtypeMismatchError, then CheckpointTreeMismatchError, with all mismatches, before a chunk is requested or a buffer made.
   * @throws DeviceError where a device cannot hold or take the arrays.
   * @throws CorruptCheckpointError for damaged bytes, StorageError where the place fails, the signal's reason on abort.
   *   Every buffer that was made is destroyed then.
   */
  restore<const T extends Template = null, Device extends GPUDevice | undefined = StoreDevice>(
    options?: WholeRestoreOptions<Device> & { readonly template?: T },
  ): Promise<RestoredBy<T, Device, "whole">>;
  /** Restores what is asked for of the item's tree. */
  restore<const T extends Template = null, Device extends GPUDevice | undefined = StoreDevice>(
    options: RestoreOptions<Device> & { readonly template?: T },
  ): Promise<RestoredBy<T, Device, "part">>;
  /**
   * Reads one array, or a region of it, into memory or onto a device. Of its chunks only what holds the region is requested: of uncompressed ones
   * the rows, of shards the chunks in them. Of a typed key it is the data, of a Python number an array of rank 0.
   * @throws CheckpointValueError for a path without an array, and a region that is not within it; else as {@link restore}.
   */
  read<Device extends GPUDevice | undefined = StoreDevice>(
    path: string,
    options?: ReadArrayOptions<Device>,
  ): Promise<Placed<Dtype, Device>>;
  /** Frees every GPUBuffer that its restores and reads made; never one given as `into`. Further calls do nothing. */
  destroy(): void;
}

/** What a checkpoint is read by. */
export interface Reading {
  readonly item: ItemIndex;
  /** What the item was opened with. */
  readonly opened: OpenedItems;
  /** Runs what reads on. */
  readonly again: ReadAgain;
}

/** Makes an opened checkpoint of an item's index. */
export function openedCheckpoint<StoreDevice extends GPUDevice | undefined>(
  { storedBytes, ...facts }: CheckpointFacts & { readonly storedBytes?: StoredBytes | undefined },
  item: ItemIndex,
  readOn: ReadOn<Reading>,
  defaults: RestoreDefaults<StoreDevice>,
): OpenedCheckpoint<StoreDevice> {
  expectRestore();
  const leaves = onFirstCall(() => leafInfos(item.leaves, "", storedBytes));
  const owned = new Set<GpuArray>();
  const checkpoint: OpenedCheckpoint<StoreDevice> = {
    ...facts,
    layout: item.layout,
    get leaves() {
      return leaves();
    },
    requiredLimits: () => limitsOf([item]),
    async restore(given: RestoreOptions & { readonly template?: Template } = {}) {
      requireOptions("restore", given, itemRestoreRules);
      const { template, ...options } = given;
      const templates = template === undefined || template === null ? {} : { [item.name]: template };
      const restore = (steady: RestoreOptions) =>
        readOn(
          ({ opened, again, ...read }) =>
            restoreOpened({ ...opened, items: [read.item] }, { templates, prefixOf: () => "" }, steady, defaults, again),
          options,
        );
      const restored = await withSteadyProgress(restore, options, destroyOwned);
      for (const array of restored.owned) owned.add(array);
      return restored.items[item.name] as never;
    },
    async read(path: string, options: ReadArrayOptions = {}) {
      requireArgument("the path that read takes", path, aText);
      requireOptions("read", options, readArrayRules);
      const read = (steady: ReadArrayOptions) =>
        readOn(({ opened, again, ...from }) => readOpened(opened, [from.item, path], steady, defaults, again), options);
      const ownedBy = (array: RestoredArray) => ownedOf(array, options.into);
      const array = await withSteadyProgress(read, options, (unwanted) => destroyOwned({ owned: ownedBy(unwanted) }));
      for (const made of ownedBy(array)) owned.add(made);
      return array as never;
    },
    destroy() {
      destroyOwned({ owned: [...owned] });
      owned.clear();
    },
  };
  noteOpened(checkpoint, item);
  return checkpoint;
}
