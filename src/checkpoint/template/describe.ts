import type { StoredLeaf } from "../item/leaves.js";
import type { TemplateLeaf } from "./template.js";

/** A stored leaf in a few words, for errors. */
export function describeStored(leaf: StoredLeaf): string {
  switch (leaf.kind) {
    case "string":
      return "a string";
    case "empty":
      return "an empty node";
    case "scalar":
      return `a Python number (${leaf.array.spec.dtype})`;
    default: {
      const array = `${leaf.array.spec.dtype}[${leaf.array.spec.shape.join(", ")}]`;
      return leaf.keyImpl === undefined ? array : `a ${leaf.keyImpl} key with data ${array}`;
    }
  }
}

/** A template's leaf in a few words, for errors. */
export function describeTemplate(leaf: TemplateLeaf): string {
  switch (leaf.kind) {
    case "array":
      return `${leaf.dtype}[${leaf.shape.join(", ")}]`;
    case "key":
      return `a ${leaf.impl} key with data ${describeTemplate(leaf.data)}`;
    case "plain":
      return `a ${typeof leaf.value === "object" ? "complex number" : typeof leaf.value}`;
    default:
      return leaf satisfies never;
  }
}
