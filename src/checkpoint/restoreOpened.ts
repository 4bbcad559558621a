import { type BufferLimits, requiredLimits } from "../gpu/limits.js";
import type { ItemIndex } from "./item/openItem.js";
import type { ReadAgain } from "./readAgain.js";
import type { RecordedDtypes } from "./record/recordedDtypes.js";
import { type RestoredItems, type RestoreRequest, restoreItems } from "./restore/restoreItems.js";
import { type RestoreDefaults, type RestoreOptions, requireMissing, requireReadConcurrentBytes } from "./restore/restoreOptions.js";
import { type SelectedLeaves, selectLeaves } from "./template/selection.js";

/** Items that were opened together. */
export interface OpenedItems {
  /** Undefined where no step is known. */
  readonly step: number | undefined;
  readonly items: readonly ItemIndex[];
  /** The dtypes that substrax recorded beside the items; undefined where it did not. Throws where they are malformed. */
  dtypes(): RecordedDtypes | undefined;
}

/** The leaves of items that a call selects, by item; `prefixOf` gives what their paths begin with. */
export function selectedOf(
  items: readonly ItemIndex[],
  { select }: RestoreOptions,
  prefixOf: (name: string) => string,
): ReadonlyMap<string, SelectedLeaves> {
  const selected = selectLeaves(
    select,
    items.map(({ name, leaves }) => ({ prefix: prefixOf(name), leaves })),
  );
  return new Map(items.flatMap(({ name }, index) => (selected[index] === undefined ? [] : [[name, selected[index]]])));
}

/**
 * Restores opened items.
 * @param again runs what reads on.
 */
export function restoreOpened(
  { step, items, dtypes }: OpenedItems,
  wanted: Pick<RestoreRequest, "templates" | "selected">,
  options: RestoreOptions,
  defaults: RestoreDefaults,
  again: ReadAgain,
): Promise<RestoredItems> {
  const castDtypes = options.castDtypes ?? false;
  const policy = {
    step,
    castDtypes,
    enableX64: options.enableX64 ?? defaults.enableX64 ?? false,
    device: options.device ?? defaults.device,
    recorded: castDtypes ? undefined : dtypes(),
  };
  const readConcurrentBytes = requireReadConcurrentBytes(options.readConcurrentBytes ?? defaults.readConcurrentBytes);
  const request = { ...wanted, missing: requireMissing(options.missing), policy, readConcurrentBytes };
  return again(() => restoreItems(items, request, options), options, destroyOwned);
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
