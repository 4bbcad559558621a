import { dtypes, type HostData } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import { leavesOf, plainTree } from "../../pytree/tree.js";
import type { TaskContext } from "../../tasks/context.js";
import { Pace } from "../../tasks/pace.js";
import type { PlainValue } from "../item/leaves.js";
import type { ItemIndex } from "../item/openItem.js";
import { type MatchedItem, type MatchedLeaf, matchNothing } from "../template/matchNothing.js";
import { everyLeaf, type SelectedLeaves } from "../template/selectedLeaves.js";
import type { Selection } from "../template/selection.js";
import { type PlannedLeaf, planRestoreInTurns, type RestorePlan, type RestorePolicy } from "./planRestore.js";
import { readLeaves } from "./readLeaves.js";

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
  /** The leaves that are asked for; all unless given. */
  readonly select: Selection | undefined;
  /** What the paths of an item's leaves begin with, for `select`: its name, or `""`. */
  prefixOf(item: string): string;
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
  const plan = await planRestoreInTurns(await matchItems(indexes, request), request.policy, pace);
  const leaves = Array.from(plan.leaves.values());
  const arrays = await readLeaves(indexes, leaves, readConcurrentBytes, pace, context);
  return assemble(inOrderOf(indexes, plan), arrays);
}

/** Templated items come first, in the templates' order: mismatches are listed so, as in substrax. */
async function matchItems(indexes: readonly ItemIndex[], request: Omit<RestoreRequest, "readConcurrentBytes">): Promise<MatchedItem[]> {
  const { templates, missing } = request;
  const selected = await selectedOf(indexes, request);
  const byName = new Map(indexes.map((index) => [index.name, index]));
  const scopes = new Map(indexes.map(({ name }, index) => [name, { selected: selected[index] ?? everyLeaf, missing }]));
  const scopeOf = (name: string) => scopes.get(name);
  const others = indexes
    .filter(({ name }) => !Object.hasOwn(templates, name))
    .map(({ name, tree }) => matchNothing(name, tree, scopeOf(name)));
  const names = Object.keys(templates);
  if (names.length === 0) return others;
  const { matchTemplate } = await import("../template/matchTemplate.js");
  const templated = names.flatMap((name) => {
    const index = byName.get(name);
    return index === undefined ? [] : [matchTemplate(name, index.tree, templates[name], scopeOf(name))];
  });
  return [...templated, ...others];
}

/** The leaves of each item that are asked for. */
async function selectedOf(
  indexes: readonly ItemIndex[],
  { select, prefixOf }: Pick<RestoreRequest, "select" | "prefixOf">,
): Promise<SelectedLeaves[]> {
  if (select === undefined) return indexes.map(() => everyLeaf);
  const { selectLeaves } = await import("../template/selection.js");
  return selectLeaves(
    select,
    indexes.map(({ name, leaves }) => ({ prefix: prefixOf(name), leaves })),
  );
}

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
