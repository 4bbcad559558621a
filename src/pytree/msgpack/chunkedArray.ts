import { elementCount } from "../../arrays/spec.js";
import type { FileWindow } from "../../storage/fileWindow.js";
import type { TreeNode } from "../tree.js";
import type { StateArray, StateLeaf } from "./stateLeaf.js";

/** The key by which Flax marks an array above 2^30 bytes, which it cuts into flat ones. */
const mark = "__msgpack_chunked_array__";

/**
 * The array that a map stands for; undefined where it is a map of its own.
 * @throws CorruptCheckpointError for a marked map without the members that Flax writes.
 */
export function joinChunks(children: ReadonlyMap<string, TreeNode<StateLeaf>>, window: FileWindow): StateArray | undefined {
  if (!children.has(mark)) return undefined;
  const shape = childrenOf(children.get("shape")).map(lengthOf);
  const chunks = childrenOf(children.get("chunks")).map(arrayOf);
  const [first] = chunks;
  const count = chunks.reduce((sum, chunk) => sum + elementCount(chunk?.shape ?? []), 0);
  if (first === undefined || chunks.some((chunk) => chunk?.dtype !== first.dtype) || elementCount(shape) !== count)
    throw window.corrupt("the shape and the chunks of an array", "others");
  return { kind: "array", dtype: first.dtype, shape, ranges: chunks.flatMap((chunk) => chunk?.ranges ?? []), isScalar: false };
}

/** Members `"0"`, `"1"`, … of a map, in this order. */
function childrenOf(node: TreeNode<StateLeaf> | undefined): (TreeNode<StateLeaf> | undefined)[] {
  const { children } = node?.kind === "mapping" ? node : { children: new Map<string, TreeNode<StateLeaf>>() };
  return Array.from({ length: children.size }, (_, index) => children.get(String(index)));
}

/** A length that no array has where it is no number. */
function lengthOf(node: TreeNode<StateLeaf> | undefined): number {
  if (node?.kind !== "leaf" || node.leaf.kind !== "number" || node.leaf.dtype !== "int64") return Number.NaN;
  const length = Number(new DataView(node.leaf.bytes.buffer).getBigInt64(0, true));
  return length >= 0 ? length : Number.NaN;
}

const arrayOf = (node: TreeNode<StateLeaf> | undefined): StateArray | undefined =>
  node?.kind === "leaf" && node.leaf.kind === "array" ? node.leaf : undefined;
