import { dtypes, type HostData } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import { leavesOf, plainTree } from "../../pytree/tree.js";
import { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";
import { Pace } from "../../tasks/pace.js";
import { stopTogether } from "../../tasks/stopTogether.js";
import { withFolder } from "../item/errorPaths.js";
import type { PlainValue } from "../item/leaves.js";
import type { ItemIndex } from "../item/openItem.js";
import { type MatchedItem, type MatchedLeaf, matchNothing, matchTemplate } from "../template/matchTemplate.js";
import { everyLeaf, type SelectedLeaves } from "../template/selection.js";
import { divideBytes } from "./bytesInFlight.js";
import { decodingOf } from "./decode/decoding.js";
import type { WriteBlocks } from "./delivery.js";
import { locateChunks, requireFewChunks } from "./locateChunks.js";
import { type PlannedLeaf, planRestoreInTurns, type RestorePlan, type RestorePolicy } from "./planRestore.js";
import { type LeafProgress, RestoreProgress } from "./restoreProgress.js";
import { checkDevices, countDevices, leafName, openSinks, type Sinks } from "./sinks.js";
import { moveBytes, type Transfer } from "./transfer.js";

/** Items as they came back, and what was made for them. */
export interface RestoredItems {
  readonly items: Readonly<Record<string, unknown>>;
  /** Each leaf that is not empty, by item and path; in tree order. */
  readonly leaves: readonly { readonly item: string; readonly path: string; readonly value: unknown }[];
  /** Arrays on devices, those restored into a buffer of the caller's excepted. */
  readonly owned: readonly GpuArray[];
}

/** What is wanted of some items. */
export interface RestoreRequest {
  /** By item; an item without one comes back as stored. */
  readonly templates: Readonly<Record<string, unknown>>;
  /** The leaves that are asked for, by item; of an item that is not there all. */
  readonly selected: ReadonlyMap<string, SelectedLeaves>;
  /** What becomes of leaves that only an item or only its template has. */
  readonly missing: "error" | "skip";
  readonly policy: RestorePolicy;
  /** Most bytes in flight at once. */
  readonly readConcurrentBytes: number;
}

/**
 * Restores items onto templates: match, plan, check the devices, find the chunks, make room, move the bytes.
 * @throws as `Checkpoint` documents; every GPUBuffer made until then is destroyed.
 */
export async function restoreItems(
  indexes: readonly ItemIndex[],
  { readConcurrentBytes, ...request }: RestoreRequest,
  context: TaskContext,
): Promise<RestoredItems> {
  const pace = new Pace(context.signal);
  const plan = await planRestoreInTurns(matchItems(indexes, request), request.policy, pace);
  const leaves = Array.from(plan.leaves.values());
  checkDevices(leaves);
  requireFewChunks(leaves.map(({ stored }) => stored.array));
  const located = await stopTogether((together) => locateLeaves(indexes, leaves, pace, together), context);
  const progress = new RestoreProgress(plan.totalBytes, leaves.length, context);
  const { reading, sending } = divideBytes(readConcurrentBytes, countDevices(leaves));
  const sinks = await openSinks(leaves, sending, context);
  try {
    const transfers = located.map(([leaf, found]) => transferOf(leaf, found, progress));
    await moveBytes(transfers, { budget: new ByteBudget(reading), decoding: decodingOf, write: writer(sinks) }, context);
    const arrays = await sinks.finish();
    progress.done();
    context.signal?.throwIfAborted();
    return assemble(inOrderOf(indexes, plan), arrays);
  } catch (error) {
    sinks.abort();
    throw error;
  }
}

/** Templated items come first, in the templates' order: mismatches are listed so, as in substrax. */
function matchItems(
  indexes: readonly ItemIndex[],
  { templates, selected, missing }: Omit<RestoreRequest, "readConcurrentBytes">,
): MatchedItem[] {
  const byName = new Map(indexes.map((index) => [index.name, index]));
  const scopeOf = (name: string) => ({ selected: selected.get(name) ?? everyLeaf, missing });
  const templated = Object.keys(templates).flatMap((name) => {
    const index = byName.get(name);
    return index === undefined ? [] : [matchTemplate(name, index.tree, templates[name], scopeOf(name))];
  });
  const others = indexes
    .filter(({ name }) => !Object.hasOwn(templates, name))
    .map(({ name, tree }) => matchNothing(name, tree, scopeOf(name)));
  return [...templated, ...others];
}

type LocatedLeaf = Pick<Transfer, "folder" | "chunks" | "missingChunksAreLost">;

/** Finds the chunks of all leaves, item by item at once. */
async function locateLeaves(
  indexes: readonly ItemIndex[],
  leaves: readonly PlannedLeaf[],
  pace: Pace,
  context: TaskContext,
): Promise<(readonly [PlannedLeaf, LocatedLeaf])[]> {
  const byItem = new Map<string, PlannedLeaf[]>(indexes.map(({ name }) => [name, []]));
  for (const leaf of leaves) byItem.get(leaf.item)?.push(leaf);
  const located = indexes.map(async (index) => {
    const own = byItem.get(index.name) ?? [];
    const arrays = own.map(({ stored }) => stored.array);
    const found = await withFolder(index.folder, locateChunks(index, arrays, pace, context));
    const { folder, missingChunksAreLost } = index;
    return own.map((leaf, place) => [leaf, { folder, chunks: found[place] ?? [], missingChunksAreLost }] as const);
  });
  return (await Promise.all(located)).flat();
}

/** A leaf, and how much of it has arrived. */
interface LeafOnItsWay {
  readonly leaf: PlannedLeaf;
  readonly progress: LeafProgress;
}

function transferOf(leaf: PlannedLeaf, found: LocatedLeaf, restore: RestoreProgress): Transfer<LeafOnItsWay> {
  const progress = restore.leaf(leafName(leaf), leaf.byteLength);
  let chunksLeft = found.chunks.length;
  if (chunksLeft === 0) progress.finish();
  return {
    ...found,
    array: leaf.stored.array,
    dtype: leaf.spec.dtype,
    target: { leaf, progress },
    chunkDone() {
      chunksLeft -= 1;
      if (chunksLeft === 0) progress.finish();
    },
  };
}

/** Hands blocks to the sinks, and counts them. */
const writer =
  (sinks: Sinks): WriteBlocks<LeafOnItsWay> =>
  async (blocks) => {
    await sinks.write(blocks.map(({ target, block }) => ({ target: target.leaf, block })));
    for (const { target, block } of blocks) target.progress.add(block.data.byteLength);
  };

/** The plan with its items in the record's order, in which they come back. */
const inOrderOf = (indexes: readonly ItemIndex[], plan: RestorePlan): RestorePlan => ({
  ...plan,
  items: indexes.flatMap(({ name }) => plan.items.filter(({ item }) => item === name)),
});

function assemble(plan: RestorePlan, arrays: ReadonlyMap<PlannedLeaf, HostArray | GpuArray>): RestoredItems {
  const value = (matched: MatchedLeaf) => restoredValue(matched, plan.leaves.get(matched), arrays);
  const values = new Map(plan.items.flatMap(({ tree }) => Array.from(leavesOf(tree), (matched) => [matched, value(matched)] as const)));
  const leaves = plan.items.flatMap(({ item, tree }) =>
    Array.from(leavesOf(tree)).flatMap((matched) =>
      matched.kind === "given" ? [] : [{ item, path: matched.leaf.path, value: values.get(matched) }],
    ),
  );
  return {
    items: Object.fromEntries(plan.items.map(({ item, tree }) => [item, plainTree(tree, (matched) => values.get(matched))])),
    leaves,
    owned: Array.from(arrays).flatMap(([leaf, array]) => ("buffer" in array && leaf.into === undefined ? [array] : [])),
  };
}

function restoredValue(
  matched: MatchedLeaf,
  planned: PlannedLeaf | undefined,
  arrays: ReadonlyMap<PlannedLeaf, HostArray | GpuArray>,
): unknown {
  if (matched.kind === "given") return matched.value;
  if (matched.leaf.kind === "string") return matched.leaf.value;
  const array = planned && arrays.get(planned);
  if (planned?.as === "number" && array !== undefined && "data" in array) return plainNumber(array);
  return planned?.as === "key" ? { impl: matched.leaf.keyImpl, data: array } : array;
}

/** A rank-0 array as a Python value. */
function plainNumber(array: HostArray): PlainValue {
  const { kind } = dtypes[array.dtype];
  const data: HostData = array.data;
  const [first = 0, second = 0] = kind === "float" && array.dtype !== "float64" ? array.toFloat32() : data;
  if (kind === "bool") return first !== 0;
  if (kind === "complex") return { re: Number(first), im: Number(second) };
  return typeof first === "bigint" && Number.isSafeInteger(Number(first)) ? Number(first) : first;
}
