import type { ItemIndex } from "./openItem.js";

const restored = new WeakMap<object, readonly ItemIndex[]>();
const opened = new WeakMap<object, ItemIndex>();

/** Remembers what a checkpoint was restored from, so that a save can be like it. */
export const noteRestored = (checkpoint: object, items: readonly ItemIndex[]): void => void restored.set(checkpoint, items);

/** Remembers the item that was opened. */
export const noteOpened = (checkpoint: object, item: ItemIndex): void => void opened.set(checkpoint, item);

/** The items of a checkpoint that a restore gave; undefined of anything else. */
export const restoredFrom = (checkpoint: object): readonly ItemIndex[] | undefined => restored.get(checkpoint);

/** The item that an opened checkpoint is of; undefined of anything else. */
export const openedFrom = (checkpoint: object): ItemIndex | undefined => opened.get(checkpoint);
