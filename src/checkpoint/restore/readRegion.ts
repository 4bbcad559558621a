import { cropBlock } from "../../arrays/cropBlock.js";
import { CheckpointValueError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import { Pace } from "../../tasks/pace.js";
import { regionArray } from "../../zarr/regionArray.js";
import type { ArrayLeaf, RestoredArray, StoredLeaf } from "../item/leaves.js";
import type { ItemIndex } from "../item/openItem.js";
import type { Placement } from "../template/template.js";
import { neededChunks } from "./neededChunks.js";
import { planRestore, type RestorePolicy } from "./planRestore.js";
import { readLeaves } from "./readLeaves.js";
import { boxOf, type Region } from "./region.js";

/** What is wanted of one array. */
export interface RegionRequest extends Pick<Placement, "usage" | "into"> {
  readonly path: string;
  readonly region: Region;
  readonly policy: RestorePolicy;
  /** Most bytes in flight at once. */
  readonly readConcurrentBytes: number;
}

/**
 * Reads a region of an array of an item, and of its chunks only what holds it; of a typed key its data, of a Python number an array of rank 0.
 * @throws CheckpointValueError for a path without an array and a region outside of it; else as a restore.
 */
export async function readRegion(
  index: ItemIndex,
  { path, region, policy, readConcurrentBytes, usage, into }: RegionRequest,
  context: TaskContext,
): Promise<RestoredArray> {
  const leaf = arrayAt(index.leaves, path);
  const box = boxOf(region, leaf.array.spec.shape, path);
  const isAll = box.shape.every((length, axis) => length === leaf.array.spec.shape[axis]);
  const array = isAll ? leaf.array : regionArray(leaf.array, box);
  const wanted = { kind: "array", ...array.spec, place: "default", usage, into } as const;
  const matched = { kind: "stored", leaf: { ...leaf, array, keyImpl: undefined }, wanted } as const;
  const plan = planRestore([{ item: index.name, tree: { kind: "leaf", leaf: matched }, mismatches: [] }], policy);
  const regions = isAll ? undefined : { neededChunks, cropBlock };
  const arrays = await readLeaves([index], [...plan.leaves.values()], readConcurrentBytes, new Pace(context.signal), context, regions);
  const [read] = arrays.values();
  if (read === undefined) throw new Error(`nothing was read of ${path}`);
  return read;
}

/** Most paths that an error names. */
const mostNamed = 5;

function arrayAt(leaves: readonly StoredLeaf[], path: string): ArrayLeaf {
  const found = leaves.find((leaf) => leaf.path === path);
  if (found !== undefined && "array" in found) return found;
  const named = leaves.flatMap((leaf) => ("array" in leaf ? [JSON.stringify(leaf.path)] : [])).slice(0, mostNamed);
  const problem = found === undefined ? "there is no such leaf" : found.kind === "string" ? "the leaf is a string" : "the leaf is empty";
  throw new CheckpointValueError(
    `${JSON.stringify(path)}: ${problem}; read takes the path of an array, such as ${named.join(", ") || "none here"}`,
  );
}
