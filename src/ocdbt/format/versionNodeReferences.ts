import { columns, type Field, type Fields, u8, u64le, varint64 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { DataFile } from "./dataFileTable.js";
import { checkReference, type IndirectReference, referenceFields } from "./indirectReference.js";
import { checkGeneration } from "./versionList.js";

/** A node of the version tree, as its parent or the manifest refers to it. */
export interface VersionNodeReference extends IndirectReference {
  /** The latest generation below the node. */
  readonly generation: bigint;
  readonly numGenerations: bigint;
  /** When the earliest version below was made, in nanoseconds since the Unix epoch. */
  readonly commitTime: bigint;
  /** Height of the node. */
  readonly height: number;
}

/** Greatest height of a node of a version tree: generations have 63 bits at most. */
export const greatestHeight = (arityLog2: number): number => Math.floor(63 / arityLog2) - 1;

/** What the manifest refers to: at most one node of each height from 1, the highest, which is the oldest, first. */
export const manifestVersionNodes = (
  arityLog2: number,
  files: readonly DataFile[],
  lastGeneration: bigint,
): Field<readonly VersionNodeReference[]> => ({
  read(reader) {
    const most = greatestHeight(arityLog2);
    const count = reader.checkCount(varint64.read(reader), "version-tree nodes", most, 14);
    const nodes = columns<VersionNodeReference>({ ...childFields(files), height: u8 }, count).read(reader);
    for (const [i, node] of nodes.entries()) checkManifestNode(reader, node, nodes[i - 1], most);
    checkManifestRanges(reader, nodes, arityLog2, lastGeneration);
    return nodes;
  },
  write(writer, nodes) {
    varint64.write(writer, BigInt(nodes.length));
    columns<VersionNodeReference>({ ...childFields(files), height: u8 }, nodes.length).write(writer, [...nodes]);
  },
});

/** The children of an interior node of the version tree, whose heights are not stored: 1 to 2^arityLog2. */
export const versionNodeChildren = (
  arityLog2: number,
  files: readonly DataFile[],
  height: number,
): Field<readonly VersionNodeReference[]> => ({
  read(reader) {
    const count = reader.checkCount(varint64.read(reader), "children", 2 ** arityLog2, 13);
    if (count === 0) throw reader.corrupt("a child", "none");
    const children = columns(childFields(files), count)
      .read(reader)
      .map((child) => ({ ...child, height: height - 1 }));
    const stride = 1n << BigInt(arityLog2 * height);
    for (const [i, child] of children.entries()) checkChild(reader, child, children[i - 1], stride);
    checkNode(reader, children, stride << BigInt(arityLog2));
    return children;
  },
  write(writer, children) {
    varint64.write(writer, BigInt(children.length));
    columns(childFields(files), children.length).write(writer, [...children]);
  },
});

const childFields = (files: readonly DataFile[]): Fields<Omit<VersionNodeReference, "height">> => ({
  generation: varint64,
  ...referenceFields(files),
  numGenerations: varint64,
  commitTime: u64le,
});

function checkManifestNode(
  reader: ByteReader,
  node: VersionNodeReference,
  previous: VersionNodeReference | undefined,
  greatest: number,
): void {
  checkGeneration(reader, node.generation, previous?.generation);
  checkReference(reader, node);
  const below = previous?.height ?? greatest + 1;
  if (node.height === 0 || node.height >= below) throw reader.corrupt(`a height from 1 to ${below - 1}`, `${node.height}`);
}

/** Generations are grouped by `stride`: a child is a full group, so it ends at a multiple and holds no more than one. */
function checkChild(reader: ByteReader, child: VersionNodeReference, previous: VersionNodeReference | undefined, stride: bigint): void {
  checkGeneration(reader, child.generation, previous?.generation);
  checkReference(reader, child);
  if (child.generation % stride !== 0n) throw reader.corrupt(`a generation that is a multiple of ${stride}`, `${child.generation}`);
  if (child.numGenerations > stride) throw reader.corrupt(`at most ${stride} generations below a child`, `${child.numGenerations}`);
}

function checkNode(reader: ByteReader, children: readonly VersionNodeReference[], groupSize: bigint): void {
  const groupOf = (child: VersionNodeReference | undefined) => ((child?.generation ?? 1n) - 1n) / groupSize;
  if (groupOf(children[0]) !== groupOf(children.at(-1))) throw reader.corrupt(`generations of one group of ${groupSize}`, "of two");
}

/**
 * Which generations the manifest's node of each height may hold: those before the group that stands in the manifest itself, then
 * those before the group of groups that the node below covers, and so on (TensorStore's ForEachManifestVersionTreeNodeRef).
 */
function checkManifestRanges(reader: ByteReader, nodes: readonly VersionNodeReference[], arityLog2: number, lastGeneration: bigint): void {
  const groupStart = (generation: bigint, height: number) => {
    const bits = BigInt((height + 1) * arityLog2);
    return generation === 0n ? 0n : ((generation - 1n) >> bits) << bits;
  };
  let last = groupStart(lastGeneration, 0);
  let unchecked = nodes.length;
  for (let height = 1; last > 0n; height++) {
    const first = groupStart(last, height) + 1n;
    const node = nodes[unchecked - 1];
    if (node?.height === height) {
      unchecked--;
      if (node.generation < first || node.generation > last) {
        throw reader.corrupt(`a generation from ${first} to ${last} at height ${height}`, `${node.generation}`);
      }
    }
    last = first - 1n;
  }
  if (unchecked > 0) throw reader.corrupt(`version-tree nodes of generations before ${lastGeneration}`, "others");
}
