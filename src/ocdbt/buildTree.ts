import { commonPrefixLength, compareBytes } from "../bytes/compare.js";
import { CheckpointValueError } from "../errors.js";
import { type BtreeNode, type InteriorEntry, mostEntries } from "./format/btreeNode.js";
import type { DataFile } from "./format/dataFileTable.js";
import type { IndirectReference, TreeStatistics } from "./format/indirectReference.js";
import { LeafEntries } from "./format/leafEntries.js";
import type { LeafValue } from "./format/leafValues.js";
import { splitNodes } from "./splitNodes.js";

/** A run of bytes of a data file; `path` is relative to the database's folder, the rest in bytes. */
export interface DataPlace {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

/** A key and its value: bytes that stand in the index, or where they stand. */
export interface TreeEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array | DataPlace;
}

/** A tree whose nodes all have their places. */
export interface BuiltTree {
  readonly root: DataPlace;
  /** 0 where the root is a leaf. */
  readonly height: number;
  readonly statistics: TreeStatistics;
}

/**
 * Makes the nodes of the tree of these keys, from the leaves up; for each one it is told where its record was put, and how long that
 * is. Nodes are as large as TensorStore's, and so the tree as high. Without entries there is no node and no tree.
 * @throws CheckpointValueError unless keys ascend bytewise, each once, and have at most 65,535 bytes.
 */
export function* buildTree(
  entries: readonly TreeEntry[],
  maxDecodedNodeBytes: number,
): Generator<BtreeNode, BuiltTree | undefined, DataPlace> {
  checkKeys(entries);
  let nodes: readonly PlacedNode[] = yield* placeLeaves(entries, maxDecodedNodeBytes);
  let height = 0;
  while (nodes.length > 1) nodes = yield* placeInteriors(nodes, ++height, maxDecodedNodeBytes);
  const [root] = nodes;
  return root && { root: root.place, height, statistics: root.statistics };
}

/** Longest key, in bytes. */
const longestKey = 65535;

/** A node that has its place, as its parent is going to refer to it. */
interface PlacedNode {
  /** The first of its keys, whole. */
  readonly key: Uint8Array;
  /** How much of its keys it leaves out. */
  readonly prefixLength: number;
  readonly place: DataPlace;
  readonly statistics: TreeStatistics;
}

function checkKeys(entries: readonly TreeEntry[]): void {
  for (const [index, { key }] of entries.entries()) {
    const previous = entries[index - 1];
    const order = previous === undefined ? -1 : compareBytes(previous.key, key);
    if (order < 0 && key.length <= longestKey) continue;
    const text = JSON.stringify(new TextDecoder().decode(key.subarray(0, 1000)));
    if (order < 0)
      throw new CheckpointValueError(`a key of ${key.length} bytes is longer than ${longestKey}, the most there can be: ${text}`);
    throw new CheckpointValueError(order === 0 ? `two values have the key ${text}` : `the key ${text} comes after a greater one`);
  }
}

function* placeLeaves(entries: readonly TreeEntry[], limit: number): Generator<BtreeNode, PlacedNode[], DataPlace> {
  const nodes: PlacedNode[] = [];
  const sizes = entries.map(({ value }) => leafEntrySize + ("path" in value ? referenceSize(value) : value.length));
  for (const [start, end] of splitNodes(entries, sizes, { limit, least: 1, most: mostEntries })) {
    const own = entries.slice(start, end);
    const isRoot = own.length === entries.length;
    const prefixLength = isRoot ? 0 : sharedLength(own);
    const place = yield leafOf(own, prefixLength);
    nodes.push({ key: firstKey(own), prefixLength, place, statistics: leafStatistics(own, place) });
  }
  return nodes;
}

function* placeInteriors(children: readonly PlacedNode[], height: number, limit: number): Generator<BtreeNode, PlacedNode[], DataPlace> {
  const nodes: PlacedNode[] = [];
  const sizes = children.map(({ place }) => interiorEntrySize + referenceSize(place));
  for (const [start, end] of splitNodes(children, sizes, { limit, least: 2, most: mostEntries })) {
    const own = children.slice(start, end);
    const isRoot = own.length === children.length;
    const prefixLength = isRoot ? 0 : own.reduce((least, child) => Math.min(least, child.prefixLength), sharedLength(own));
    const place = yield interiorOf(own, height, prefixLength);
    nodes.push({ key: firstKey(own), prefixLength, place, statistics: interiorStatistics(own, place) });
  }
  return nodes;
}

// What TensorStore takes the parts of an entry for, besides its key, when it splits nodes (format/btree.h).
const leafEntrySize = 16;
const interiorEntrySize = 40;
const referenceSize = ({ path }: DataPlace): number => 16 + path.length;

interface Keyed {
  readonly key: Uint8Array;
}

const firstKey = (entries: readonly Keyed[]): Uint8Array => entries[0]?.key ?? new Uint8Array();

/** What all keys begin with, given that they ascend. */
const sharedLength = (entries: readonly Keyed[]): number => commonPrefixLength(firstKey(entries), entries.at(-1)?.key ?? new Uint8Array());

function leafOf(entries: readonly TreeEntry[], prefixLength: number): BtreeNode {
  const files = new FileIds(entries.flatMap(({ value }) => ("path" in value ? [value.path] : [])));
  const storedAs = (value: TreeEntry["value"]): LeafValue =>
    "path" in value ? { kind: "indirect", ...files.referenceTo(value) } : { kind: "inline", bytes: value };
  const own = entries.map(({ key, value }) => ({ key: key.subarray(prefixLength), value: storedAs(value) }));
  return { kind: "leaf", height: 0, files: files.table, entries: LeafEntries.of(own) };
}

function interiorOf(nodes: readonly PlacedNode[], height: number, prefixLength: number): BtreeNode {
  const files = new FileIds(nodes.map(({ place }) => place.path));
  const children = nodes.map(
    (node): InteriorEntry => ({
      key: node.key.subarray(prefixLength),
      subtreeCommonPrefixLength: node.prefixLength - prefixLength,
      ...files.referenceTo(node.place),
      ...node.statistics,
    }),
  );
  return { kind: "interior", height, files: files.table, children };
}

/** The data files of a node, which it refers to by their index. */
class FileIds {
  readonly table: readonly DataFile[];
  readonly #ids: ReadonlyMap<string, number>;

  constructor(paths: readonly string[]) {
    const sorted = [...new Set(paths)].sort();
    this.table = sorted.map((relativePath) => ({ basePath: "", relativePath }));
    this.#ids = new Map(sorted.map((path, id) => [path, id]));
  }

  referenceTo({ path, offset, length }: DataPlace): IndirectReference {
    return { fileId: this.#ids.get(path) ?? 0, offset: BigInt(offset), length: BigInt(length) };
  }
}

function leafStatistics(entries: readonly TreeEntry[], place: DataPlace): TreeStatistics {
  const stored = entries.reduce((sum, { value }) => sum + ("path" in value ? value.length : 0), 0);
  return { numKeys: BigInt(entries.length), numTreeBytes: BigInt(place.length), numIndirectValueBytes: BigInt(stored) };
}

function interiorStatistics(nodes: readonly PlacedNode[], place: DataPlace): TreeStatistics {
  const sum = { numKeys: 0n, numTreeBytes: BigInt(place.length), numIndirectValueBytes: 0n };
  for (const { statistics } of nodes) {
    sum.numKeys += statistics.numKeys;
    sum.numTreeBytes += statistics.numTreeBytes;
    sum.numIndirectValueBytes += statistics.numIndirectValueBytes;
  }
  return sum;
}
