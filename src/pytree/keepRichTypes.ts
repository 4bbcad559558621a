import type { JsonObject } from "../bytes/json.js";
import type { RichMember, RichNode } from "./richTypes.js";
import { buildTree, type TreeNode } from "./tree.js";
import { formatValueMetadata, type TreeEntry } from "./treeMetadata.js";

/**
 * The rich types of a tree that is going to be saved: where `like` has a tuple, lists are tuples, and where it has a namedtuple, mappings of the
 * same names are such.
 */
export function keepRichTypes(entries: readonly TreeEntry[], like: RichNode): RichNode {
  const leaves = entries.map((entry) => ({ path: entry.path, leaf: formatValueMetadata(entry) }));
  return richNode(buildTree(leaves, "_METADATA"), like);
}

function richNode(node: TreeNode<JsonObject>, like: RichNode | undefined): RichNode {
  switch (node.kind) {
    case "leaf":
      return { kind: "value", data: node.leaf };
    case "sequence": {
      const before = like?.kind === "tuple" || like?.kind === "list" ? like : { kind: "list" as const, elements: [] };
      return { kind: before.kind, elements: node.children.map((child, index) => richNode(child, before.elements[index])) };
    }
    case "mapping":
      return richMapping(node.children, like?.kind === "dict" || like?.kind === "namedtuple" ? like : { kind: "dict", members: [] });
    default:
      return node satisfies never;
  }
}

type RichMapping = RichNode & { readonly kind: "dict" | "namedtuple" };

/** A namedtuple's fields are in its order. */
function richMapping(children: ReadonlyMap<string, TreeNode<JsonObject>>, like: RichMapping): RichNode {
  const before = new Map(like.members);
  const member = ([key, child]: readonly [string, TreeNode<JsonObject>]): RichMember => [key, richNode(child, before.get(key))];
  const fields = like.members.flatMap(([key]) => {
    const child = children.get(key);
    return child === undefined ? [] : [[key, child] as const];
  });
  const isSame = like.kind === "namedtuple" && fields.length === children.size && before.size === children.size;
  if (isSame) return { ...like, members: fields.map(member) };
  return { kind: "dict", members: [...children].map(member) };
}
