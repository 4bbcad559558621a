import type { TreeNode } from "../tree.js";
import type { StateLeaf } from "./stateLeaf.js";

type Children = ReadonlyMap<string, TreeNode<StateLeaf>>;

const zarrDrivers = new Set(["zarr", "zarr3"]);

/**
 * The leaf that TensorStore's description of an array stands for, which T5X writes in place of each large one; undefined for other maps. Its
 * path lies in `kvstore`, or, as older versions of TensorStore had it, beside that.
 */
export function storedSpec(children: Children): StateLeaf | undefined {
  const driver = textAt(children, "driver");
  const kvstore = children.get("kvstore");
  if (driver === undefined || !zarrDrivers.has(driver) || kvstore?.kind !== "mapping") return undefined;
  const path = textAt(kvstore.children, "path") ?? textAt(children, "path");
  return path === undefined ? undefined : { kind: "stored", name: path.replace(/\/+$/, "") };
}

function textAt(children: Children, key: string): string | undefined {
  const node = children.get(key);
  return node?.kind === "leaf" && node.leaf.kind === "string" ? node.leaf.value : undefined;
}
