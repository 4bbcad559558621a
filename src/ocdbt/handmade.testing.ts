import { memoryStorage } from "../storage/memory.js";
import type { WritableStorage } from "../storage/storage.js";
import { type BtreeNode, btreeNode, type InteriorEntry } from "./format/btreeNode.js";
import type { DataFile } from "./format/dataFileTable.js";
import { sealRecord } from "./format/envelope.js";
import { LeafEntries } from "./format/leafEntries.js";
import type { LeafValue } from "./format/leafValues.js";
import { manifest } from "./format/manifest.js";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** A node in its envelope: a leaf of these keys and values. */
export const leafOf = (entries: Readonly<Record<string, LeafValue>>, files: readonly DataFile[] = []): Uint8Array =>
  sealNode({
    kind: "leaf",
    height: 0,
    files,
    entries: LeafEntries.of(Object.entries(entries).map(([key, value]) => ({ key: utf8(key), value }))),
  });

/** A value within its leaf. */
export const inline = (text: string): LeafValue => ({ kind: "inline", bytes: utf8(text) });

/** A value in a data file of the leaf's table. */
export const indirect = (offset: bigint, length: bigint, fileId = 0): LeafValue => ({ kind: "indirect", fileId, offset, length });

/** A child whose node is a file of its own: all of the file with this index. */
export const child = (key: string, node: Uint8Array, fileId = 0, subtreeCommonPrefixLength = 0): InteriorEntry => ({
  key: utf8(key),
  subtreeCommonPrefixLength,
  fileId,
  offset: 0n,
  length: BigInt(node.length),
  numKeys: 0n,
  numTreeBytes: 0n,
  numIndirectValueBytes: 0n,
});

/** A node in its envelope: these children, each of which is the key that its subtree begins with. */
export const interiorOf = (children: readonly InteriorEntry[], files: readonly DataFile[], height = 1): Uint8Array =>
  sealNode({ kind: "interior", height, files, children });

const sealNode = (node: BtreeNode): Uint8Array => sealRecord("B+tree node", btreeNode, node);

/** Files of the database's own folder, by name. */
export const ownFiles = (...names: readonly string[]): DataFile[] => names.map((relativePath) => ({ basePath: "", relativePath }));

/** What a manifest says of its only version, where it differs from a leaf that is all of the file `root`. */
interface RootOptions {
  readonly height?: number;
  readonly file?: DataFile;
  readonly offset?: bigint;
  readonly length?: bigint;
}

/** A manifest with one version, the root of which is the node. */
export function manifestOf(root: Uint8Array, options: RootOptions = {}): Uint8Array {
  const { height = 0, file = { basePath: "", relativePath: "root" }, offset = 0n, length = BigInt(root.length) } = options;
  const version = { generation: 1n, rootHeight: height, fileId: 0, offset, length, commitTime: 1n };
  return sealRecord("manifest", manifest, {
    config: {
      uuid: new Uint8Array(16),
      manifestKind: "single",
      maxInlineValueBytes: 1024,
      maxDecodedNodeBytes: 100_000_000,
      versionTreeArityLog2: 4,
      compression: { method: "none" },
    },
    content: {
      files: [file],
      versions: [{ ...version, numKeys: 0n, numTreeBytes: 0n, numIndirectValueBytes: 0n }],
      versionTreeNodes: [],
    },
  });
}

/** A database whose root is the file `root`, and other files. */
export const storageOf = (root: Uint8Array, files: Readonly<Record<string, Uint8Array>> = {}, options: RootOptions = {}): WritableStorage =>
  memoryStorage({ "manifest.ocdbt": manifestOf(root, options), root, ...files });
