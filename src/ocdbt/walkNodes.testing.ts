import type { ReadableStorage } from "../storage/storage.js";
import { readData } from "./dataFiles.js";
import { findVersion } from "./findVersion.js";
import { type BtreeNode, btreeNode } from "./format/btreeNode.js";
import { openRecord } from "./format/envelope.js";
import { type IndirectReference, isMissing, type TreeStatistics } from "./format/indirectReference.js";
import { openManifest } from "./openManifest.js";

/** A node of a database, and where it stands. */
export interface WalkedNode {
  readonly node: BtreeNode;
  readonly place: { readonly path: string; readonly offset: number; readonly length: number };
  /** What the keys of the node leave out. */
  readonly prefix: Uint8Array;
  /** What the parent, or the version, says of it. */
  readonly statistics: TreeStatistics;
}

/** The nodes of a database whose files lie in its own folder: the leaves first, then each height above; from left to right. */
export async function walkNodes(storage: ReadableStorage, generation?: bigint): Promise<WalkedNode[]> {
  const manifest = await openManifest(storage, {});
  if (manifest === undefined) throw new Error("no database");
  const { version, origin } = await findVersion(storage, manifest, generation, {});
  if (isMissing(version)) return [];
  const levels: WalkedNode[][] = [];
  const visit = async (files: BtreeNode["files"], reference: IndirectReference & TreeStatistics, prefix: Uint8Array) => {
    const { path, range } = { path: files[reference.fileId]?.relativePath ?? "", range: rangeOf(reference) };
    const bytes = await readData(storage, path, range);
    const node = await openRecord("B+tree node", btreeNode, bytes, { path, offset: range.offset });
    const { numKeys, numTreeBytes, numIndirectValueBytes } = reference;
    const walked = { node, place: { path, ...range }, prefix, statistics: { numKeys, numTreeBytes, numIndirectValueBytes } };
    levels[node.height] = [...(levels[node.height] ?? []), walked];
    if (node.kind === "leaf") return;
    for (const child of node.children) {
      await visit(node.files, child, Buffer.concat([prefix, child.key.subarray(0, child.subtreeCommonPrefixLength)]));
    }
  };
  await visit(origin.files, version, new Uint8Array());
  return levels.flat();
}

const rangeOf = ({ offset, length }: IndirectReference) => ({ offset: Number(offset), length: Number(length) });
