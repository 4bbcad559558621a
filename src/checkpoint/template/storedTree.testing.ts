import type { Dtype } from "../../arrays/dtypes.js";
import { buildTree } from "../../pytree/tree.js";
import type { ValueType } from "../../pytree/treeMetadata.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import type { ArrayLeaf, StoredLeaf, StoredTree } from "../item/leaves.js";

/** A leaf of a stored tree, for tests of what never reads an array's bytes. */
export type Leaf = { readonly leaf: (path: string) => StoredLeaf };

const arrayLeaf =
  (kind: ArrayLeaf["kind"], dtype: Dtype, shape: readonly number[], keyImpl?: string): Leaf["leaf"] =>
  (path) => ({ kind, path, keyImpl, array: { name: path, spec: { dtype, shape } } as ZarrArray });

export const jaxArray = (dtype: Dtype, ...shape: number[]): Leaf => ({ leaf: arrayLeaf("jax.Array", dtype, shape) });
export const numpyArray = (dtype: Dtype, ...shape: number[]): Leaf => ({ leaf: arrayLeaf("np.ndarray", dtype, shape) });
export const typedKey = (impl: string, ...shape: number[]): Leaf => ({ leaf: arrayLeaf("jax.Array", "uint32", shape, impl) });
export const pythonNumber = (dtype: Dtype = "int64"): Leaf => ({ leaf: arrayLeaf("scalar", dtype, []) });
export const pythonString: Leaf = { leaf: (path) => ({ kind: "string", path, value: "text" }) };
export const emptyNode = (valueType: ValueType = "None"): Leaf => ({ leaf: (path) => ({ kind: "empty", path, valueType }) });

/** A nested tree of leaves. */
export type Nested = Leaf | readonly Nested[] | { readonly [key: string]: Nested };

const isLeaf = (node: Nested): node is Leaf => "leaf" in node && typeof node.leaf === "function";

/** The stored tree of nested objects and arrays of leaves. */
export function storedTree(nested: Nested): StoredTree {
  const leaves = [...flatten(nested, [])].map(({ path, leaf }) => ({ path, leaf: leaf.leaf(path.map(({ key }) => key).join("/")) }));
  return buildTree(leaves, "test");
}

type Path = readonly { readonly key: string; readonly kind: "sequence" | "mapping" }[];

function* flatten(node: Nested, path: Path): Generator<{ readonly path: Path; readonly leaf: Leaf }> {
  if (isLeaf(node)) yield { path, leaf: node };
  else {
    const kind = Array.isArray(node) ? "sequence" : "mapping";
    for (const [key, child] of Object.entries(node)) yield* flatten(child, [...path, { key, kind }]);
  }
}
