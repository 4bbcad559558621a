import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { Pace } from "../../tasks/pace.js";
import { restoreItems } from "../restore/restoreItems.js";
import { type ItemIndex, type ItemOptions, openItem } from "./openItem.js";

/** Files by path, or a place. */
type Place = ReadonlyMap<string, Uint8Array> | ReadableStorage;

/** Opens an item of some files. */
export const openedItem = (place: Place, path: string, options: ItemOptions = {}): Promise<ItemIndex> =>
  openItem("item", place instanceof Map ? memoryStorage(place) : (place as ReadableStorage), path, options, new Pace(), {});

/** The whole tree of an item, in memory. */
export async function restoredItem(index: ItemIndex): Promise<unknown> {
  const wanted = { templates: {}, select: undefined, prefixOf: () => "", missing: "error", readConcurrentBytes: 64 * 1024 * 1024 } as const;
  const policy = { step: undefined, castDtypes: false, enableX64: false, device: undefined, recorded: undefined };
  return (await restoreItems([index], { ...wanted, policy }, {})).items.item;
}

/** The place, as one that cannot list. */
export function unlisted(files: ReadonlyMap<string, Uint8Array>, cannotList: () => Error): ReadableStorage {
  const { read } = memoryStorage(files);
  return { read, list: async () => Promise.reject(cannotList()) };
}
