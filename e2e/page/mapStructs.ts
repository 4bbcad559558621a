import type { ShapeDtypeStruct } from "orbax-webgpu";
import { setMember } from "../../src/bytes/json.js";

/** A tree with each array's struct, or array, replaced. */
export function mapStructs(node: unknown, map: (struct: ShapeDtypeStruct) => unknown): unknown {
  if (typeof node !== "object" || node === null || ArrayBuffer.isView(node)) return node;
  if (Array.isArray(node)) return node.map((child) => mapStructs(child, map));
  if ("dtype" in node && "shape" in node && typeof node.dtype === "string") return map(node as unknown as ShapeDtypeStruct);
  const object: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(node)) setMember(object, key, mapStructs(child, map));
  return object;
}
