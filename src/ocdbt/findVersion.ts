import { CheckpointValueError, CorruptCheckpointError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { locateData, type RecordOrigin, readData } from "./dataFiles.js";
import { largestRecord, openRecord } from "./format/envelope.js";
import type { Version } from "./format/versionList.js";
import type { VersionNodeReference } from "./format/versionNodeReferences.js";
import { type VersionTreeNode, versionTreeNode } from "./format/versionTreeNode.js";
import type { OpenedManifest } from "./openManifest.js";

/** A version, and the record that refers to its root. */
export interface FoundVersion {
  readonly version: Version;
  readonly origin: RecordOrigin;
}

/**
 * The current version, or the one of a generation, which may stand in the tree of old versions.
 * @throws CheckpointValueError where the database has no such generation.
 */
export async function findVersion(
  storage: ReadableStorage,
  manifest: OpenedManifest,
  generation: bigint | undefined,
  context: TaskContext,
): Promise<FoundVersion> {
  const { files, versions, versionTreeNodes } = manifest.content;
  const origin: RecordOrigin = { path: manifest.path, offset: 0, transitivePath: "", files };
  const last = versions.at(-1);
  if (last === undefined) throw new CorruptCheckpointError({ path: manifest.path, expected: "a version", received: "none" });
  const version = generation === undefined ? last : versions.find((candidate) => candidate.generation === generation);
  if (version !== undefined) return { version, origin };
  const wanted = generation ?? 0n;
  const found = await findBelow(storage, versionTreeNodes, origin, wanted, manifest.config.versionTreeArityLog2, context);
  if (found === undefined) throw new CheckpointValueError(`the database has no generation ${wanted}; its latest is ${last.generation}`);
  return found;
}

async function findBelow(
  storage: ReadableStorage,
  references: readonly VersionNodeReference[],
  origin: RecordOrigin,
  generation: bigint,
  arityLog2: number,
  context: TaskContext,
): Promise<FoundVersion | undefined> {
  // A reference names the latest generation below it, so the first that reaches the wanted one leads to it.
  const reference = references.find((candidate) => candidate.generation >= generation);
  if (reference === undefined) return undefined;
  const { node, origin: inner } = await readNode(storage, reference, origin, arityLog2, context);
  if (node.kind === "interior") return findBelow(storage, node.children, inner, generation, arityLog2, context);
  const version = node.versions.find((candidate) => candidate.generation === generation);
  return version && { version, origin: inner };
}

async function readNode(
  storage: ReadableStorage,
  reference: VersionNodeReference,
  from: RecordOrigin,
  arityLog2: number,
  context: TaskContext,
): Promise<{ readonly node: VersionTreeNode; readonly origin: RecordOrigin }> {
  const { path, range, transitivePath } = locateData(from, reference);
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ path, offset: range.offset, expected, received });
  if (range.length > largestRecord) throw corrupt(`a version-tree node of at most ${largestRecord} bytes`, `${range.length}`);
  const bytes = await readData(storage, path, range, context);
  const node = await openRecord("version-tree node", versionTreeNode, bytes, { path, offset: range.offset }, context);
  const latest = (node.kind === "leaf" ? node.versions : node.children).at(-1)?.generation;
  if (node.height !== reference.height) throw corrupt(`a version-tree node of height ${reference.height}`, `height ${node.height}`);
  if (node.versionTreeArityLog2 !== arityLog2) throw corrupt(`arity 2^${arityLog2}`, `2^${node.versionTreeArityLog2}`);
  if (latest !== reference.generation) throw corrupt(`generations up to ${reference.generation}`, `${latest}`);
  return { node, origin: { path, offset: range.offset, transitivePath, files: node.files } };
}
