import { hostBytes } from "../arrays/hostArray.js";
import { FakeBuffer } from "../gpu/fakeBuffer.testing.js";

/** A leaf of a restored tree, an array by its bytes wherever they are; a typed key counts as its data. */
export interface RestoredLeaf {
  readonly path: string;
  /** Dtype and shape of an array; `""` for anything else. */
  readonly spec: string;
  readonly bytes: Uint8Array;
  /** What else is told apart: the value, or a key's implementation. */
  readonly value: string;
}

const nothing = new Uint8Array();

/** All leaves and empty containers of a restored tree, in its order. */
export function restoredLeaves(node: unknown, path = ""): RestoredLeaf[] {
  if (typeof node !== "object" || node === null) return [{ path, spec: "", bytes: nothing, value: `${typeof node} ${node}` }];
  if (isArray(node)) return [{ path, spec: `${node.dtype}[${node.shape}]`, bytes: bytesOf(node), value: "" }];
  const { impl, data } = node as { readonly impl?: unknown; readonly data?: unknown };
  if (typeof impl === "string" && typeof data === "object" && data !== null && isArray(data))
    return restoredLeaves(data, path).map((leaf) => ({ ...leaf, value: impl }));
  const children = Object.entries(node);
  if (children.length === 0) return [{ path, spec: "", bytes: nothing, value: Array.isArray(node) ? "[]" : "{}" }];
  return children.flatMap(([key, child]) => restoredLeaves(child, `${path}/${key}`));
}

interface AnyArray {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly byteLength?: number;
  readonly buffer?: unknown;
  readonly data?: Uint8Array;
}

const isArray = (node: object): node is AnyArray => "shape" in node && "dtype" in node && ("data" in node || "buffer" in node);

const bytesOf = ({ buffer, byteLength, data }: AnyArray): Uint8Array => {
  if (buffer instanceof FakeBuffer) return buffer.bytes.subarray(0, byteLength);
  return data === undefined ? nothing : hostBytes({ data });
};

/** Whether two trees hold the same, bit for bit. */
export const sameLeaves = (first: readonly RestoredLeaf[], second: readonly RestoredLeaf[]): boolean =>
  first.length === second.length &&
  first.every((leaf, index) => {
    const other = second[index];
    return (
      other !== undefined &&
      leaf.path === other.path &&
      leaf.spec === other.spec &&
      leaf.value === other.value &&
      Buffer.compare(leaf.bytes, other.bytes) === 0
    );
  });
