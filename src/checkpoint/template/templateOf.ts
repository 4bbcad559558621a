import type { Dtype } from "../../arrays/dtypes.js";
import type { HostArray } from "../../arrays/hostArray.js";
import type { PrngKey } from "../../arrays/prngKey.js";
import { setMember } from "../../bytes/json.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import type { RestoredTree } from "../item/leaves.js";
import type { HostArrayTemplate, Template, TypedArray } from "./restoredTypes.js";
import { requireDepth, type ShapeDtypeStruct, shapeDtypeStruct, templateLeaf } from "./template.js";

/** The type of {@link templateOf}'s answer. */
export type TemplateOf<T> = [RestoredTree] extends [T] ? Template : StructsOf<T>;

type StructsOf<T> =
  T extends GpuArray<infer Name>
    ? ShapeDtypeStruct<Name, GPUDevice>
    : T extends HostArray<infer Name> | HostArrayTemplate<infer Name>
      ? ShapeDtypeStruct<Name, undefined>
      : T extends TypedArray
        ? ShapeDtypeStruct<Dtype, undefined>
        : T extends PrngKey<infer Data>
          ? PrngKey<TemplateOf<Data>>
          : T extends object
            ? { [Key in keyof T]: TemplateOf<T[Key]> }
            : T;

/**
 * Makes a template of a tree: a struct for each array, with the device and usage of arrays on a GPU; Python values stay as they are.
 * The arrays themselves are not held on to.
 * @throws CheckpointValueError for a tree that holds itself.
 */
export const templateOf = <T>(tree: T): TemplateOf<T> => structsOf(tree, 0) as TemplateOf<T>;

function structsOf(node: unknown, depth: number): unknown {
  requireDepth(depth);
  const leaf = templateLeaf(node);
  if (leaf?.kind === "array") {
    const { shape, dtype, place, usage } = leaf;
    return shapeDtypeStruct(shape, dtype, typeof place === "string" ? {} : { device: place, usage });
  }
  if (leaf?.kind === "plain" || typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((child) => structsOf(child, depth + 1));
  const object: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) setMember(object, key, structsOf(value, depth + 1));
  return object;
}
