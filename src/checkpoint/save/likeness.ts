import { CheckpointValueError } from "../../errors.js";
import { parseRichTree, type RichNode } from "../../pytree/richTypes.js";
import { withFolder } from "../item/errorPaths.js";
import type { StoredTree } from "../item/leaves.js";
import type { ItemIndex } from "../item/openItem.js";
import { openedFrom, restoredFrom } from "../item/origins.js";
import type { SaveOptions } from "./saveOptions.js";

/** What an item is to be like. */
export interface Likeness {
  readonly tree: StoredTree;
  /** Tells tuples and namedtuples from lists and dicts, where its writer did. */
  readonly richTypes: RichNode | undefined;
}

/**
 * What the items of a save are to be like, by name.
 * @throws CheckpointValueError for what no restore gave, CorruptCheckpointError for rich types that break their format.
 */
export async function likenessOf(like: SaveOptions["like"]): Promise<ReadonlyMap<string, Likeness>> {
  const items = like === undefined ? [] : itemsOf(like);
  return new Map(await Promise.all(items.map(async ([name, index]) => [name, await ofItem(index)] as const)));
}

function itemsOf(like: NonNullable<SaveOptions["like"]>): readonly (readonly [string, ItemIndex])[] {
  const restored = restoredFrom(like);
  if (restored !== undefined) return restored.map((item) => [item.name, item]);
  const given = Object.entries(like).filter(([, checkpoint]) => checkpoint !== undefined);
  return given.map(([name, checkpoint]) => {
    const index = typeof checkpoint === "object" && checkpoint !== null ? openedFrom(checkpoint) : undefined;
    if (index !== undefined) return [name, index];
    throw new CheckpointValueError(
      "like is a checkpoint that a restore gave, or opened checkpoints by item, such as { model: checkpoint }: themselves, and not copies",
    );
  });
}

const ofItem = async (index: ItemIndex): Promise<Likeness> => ({
  tree: index.tree,
  richTypes: await withFolder(index.folder, richTypesOf(index)),
});

async function richTypesOf({ valueMetadataTree, node }: ItemIndex): Promise<RichNode | undefined> {
  if (valueMetadataTree === undefined) return undefined;
  const root = parseRichTree(valueMetadataTree, "_METADATA");
  if (node === undefined) return root;
  return root.kind === "dict" ? new Map(root.members).get(node) : undefined;
}
