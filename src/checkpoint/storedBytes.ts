import type { TaskContext } from "../tasks/context.js";
import type { Pace } from "../tasks/pace.js";
import type { ArrayLeaf } from "./item/leaves.js";
import type { ItemIndex } from "./item/openItem.js";

/** Most chunks of an item that are looked up for their lengths alone. */
const mostChunks = 2 ** 15;

const chunksAtOnce = 1024;

/**
 * How many bytes each array takes where it is stored, compressed, as far as the index of an item tells: of arrays in folders, and of very many
 * chunks, it does not.
 */
export async function storedBytesOf(
  { arrays, leaves }: ItemIndex,
  pace: Pace,
  context: TaskContext,
): Promise<ReadonlyMap<ArrayLeaf, number>> {
  const found = leaves.filter((leaf) => "array" in leaf);
  const count = found.reduce((sum, { array }) => sum + array.chunkCount, 0);
  if (!("locateAll" in arrays) || count > mostChunks) return new Map();
  const keys = found.flatMap((leaf) => Array.from(leaf.array.chunks(), ({ key }) => ({ leaf, key })));
  const bytes = new Map<ArrayLeaf, number>(found.map((leaf) => [leaf, 0]));
  for (let start = 0; start < keys.length; start += chunksAtOnce) {
    const some = keys.slice(start, start + chunksAtOnce);
    if (pace.due) await pace.rest();
    const locations = await arrays.locateAll(
      some.map(({ key }) => key),
      { ...context, pace },
    );
    for (const [nth, { leaf }] of some.entries()) add(bytes, leaf, locations[nth]);
  }
  return bytes;
}

/** A chunk that is nowhere takes no bytes; one whose length is not known makes that of its array unknown. */
function add(
  bytes: Map<ArrayLeaf, number>,
  leaf: ArrayLeaf,
  location: { readonly range?: { readonly length: number } | undefined } | undefined,
) {
  const sum = bytes.get(leaf);
  if (location === undefined || sum === undefined) return;
  if (location.range === undefined) bytes.delete(leaf);
  else bytes.set(leaf, sum + location.range.length);
}
