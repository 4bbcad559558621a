import type { GpuArray } from "../gpu/gpuArray.js";
import { type BufferLimits, requiredLimits } from "../gpu/limits.js";
import type { RestoredArray } from "./item/leaves.js";
import type { ItemIndex } from "./item/openItem.js";
import type { ReadAgain } from "./readAgain.js";
import type { RecordedDtypes } from "./record/recordedDtypes.js";
import type { RestorePolicy } from "./restore/planRestore.js";
import type { RestoredItems, RestoreRequest } from "./restore/restoreItems.js";
import {
  defaultReadConcurrentBytes,
  type ReadArrayOptions,
  type ReadRules,
  type RestoreDefaults,
  type RestoreOptions,
} from "./restore/restoreOptions.js";

/** Items that were opened together. */
export interface OpenedItems {
  /** Undefined where no step is known. */
  readonly step: number | undefined;
  readonly items: readonly ItemIndex[];
  /** The dtypes that substrax recorded beside the items; undefined where it did not. Throws where they are malformed. */
  dtypes(): RecordedDtypes | undefined;
}

/** What only those need who restore. */
const loadRestoring = () => import("./restore/restoring.js");

/** Begins to load what restores, since that mostly follows; whether it failed is told when it is needed. */
export function expectRestore(): void {
  loadRestoring().catch(() => undefined);
}

/**
 * Restores opened items.
 * @param again runs what reads on.
 */
export async function restoreOpened(
  opened: OpenedItems,
  wanted: Pick<RestoreRequest, "templates" | "prefixOf">,
  options: RestoreOptions,
  defaults: RestoreDefaults,
  again: ReadAgain,
): Promise<RestoredItems> {
  const { select, missing = "error" } = options;
  const request = { ...wanted, select, missing, ...policyOf(opened, options, defaults) };
  const { restoreItems } = await loadRestoring();
  return again(() => restoreItems(opened.items, request, options), options, destroyOwned);
}

/**
 * Reads a region of an array of an opened item.
 * @param again runs what reads on.
 */
export async function readOpened(
  opened: OpenedItems,
  [item, path]: readonly [ItemIndex, string],
  { region = [], usage, into, ...options }: ReadArrayOptions,
  defaults: RestoreDefaults,
  again: ReadAgain,
): Promise<RestoredArray> {
  const request = { path, region, usage, into, ...policyOf(opened, options, defaults) };
  const { readRegion } = await loadRestoring();
  const undo = (array: RestoredArray) => destroyOwned({ owned: ownedOf(array, into) });
  return again(() => readRegion(item, request, options), options, undo);
}

/** What was made for an array that was read: nothing where it is in memory, or in a buffer of the caller's. */
export const ownedOf = (array: RestoredArray, into: GPUBuffer | undefined): readonly GpuArray[] =>
  "buffer" in array && into === undefined ? [array] : [];

function policyOf({ step, dtypes }: OpenedItems, options: ReadRules, defaults: RestoreDefaults) {
  const castDtypes = options.castDtypes ?? false;
  const policy: RestorePolicy = {
    step,
    castDtypes,
    enableX64: options.enableX64 ?? defaults.enableX64 ?? false,
    device: options.device ?? defaults.device,
    recorded: castDtypes ? undefined : dtypes(),
  };
  return { policy, readConcurrentBytes: options.readConcurrentBytes ?? defaults.readConcurrentBytes ?? defaultReadConcurrentBytes };
}

/** Frees the buffers that a restore made. */
export function destroyOwned({ owned }: Pick<RestoredItems, "owned">): void {
  for (const array of owned) array.destroy();
}

/** Limits to ask `requestDevice` for, in bytes, to hold every array of the items. */
export const limitsOf = (items: readonly ItemIndex[]): BufferLimits =>
  requiredLimits(
    items.flatMap(({ leaves }) => leaves.flatMap((leaf) => ("array" in leaf && leaf.kind !== "scalar" ? [leaf.array.spec] : []))),
  );

/** Descriptions of many thousand leaves are made only for those who look at them. */
export function onFirstCall<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
