import { expect, it } from "vitest";
import type { TreeNode } from "../tree.js";
import { type StateLeaf, textLeaf } from "./stateLeaf.js";
import { storedSpec } from "./storedSpec.js";

type Nested = string | { readonly [key: string]: Nested };

const nodeOf = (value: Nested): TreeNode<StateLeaf> =>
  typeof value === "string"
    ? { kind: "leaf", leaf: textLeaf(value) }
    : { kind: "mapping", children: new Map(Object.entries(value).map(([key, child]) => [key, nodeOf(child)])) };

const specOf = (value: { readonly [key: string]: Nested }) => {
  const node = nodeOf(value);
  return node.kind === "mapping" ? storedSpec(node.children) : undefined;
};

it.each([
  ["in a folder", { driver: "zarr", dtype: "float32", kvstore: { driver: "gfile", path: "target.w/" }, metadata: { shape: "" } }],
  ["in a bucket", { driver: "zarr", kvstore: { driver: "gcs", bucket: "t5x-dummy-bucket", path: "target.w" } }],
  ["by an older TensorStore", { driver: "zarr", kvstore: { driver: "gcs", bucket: "b" }, path: "target.w" }],
  ["of zarr v3", { driver: "zarr3", kvstore: { driver: "file", path: "target.w/" } }],
])("an array %s is called as its folder", (_, spec) => {
  expect(specOf(spec)).toEqual({ kind: "stored", name: "target.w" });
});

it.each([
  [{ driver: "zarr", kvstore: "x", path: "y" }],
  [{ driver: "n5", kvstore: { path: "y" } }],
  [{ driver: "zarr", kvstore: { driver: "memory" } }],
  [{ driver: { zarr: "" }, kvstore: { path: "y" } }],
  [{ kvstore: { path: "y" } }],
])("%j is a map like others", (value) => {
  expect(specOf(value)).toBeUndefined();
});
