import { compareBytes } from "../bytes/compare.js";
import { encodeZstd } from "../codecs/zstd/encodeZstd.js";
import type { WritableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import { type BuiltTree, buildTree, type TreeEntry } from "./buildTree.js";
import { DataFileWriter, type StreamedValue } from "./dataFileWriter.js";
import { btreeNode } from "./format/btreeNode.js";
import type { OcdbtConfig } from "./format/config.js";
import { type RecordKind, sealEnvelope, writeBody } from "./format/envelope.js";
import { missingRange } from "./format/indirectReference.js";
import { longestInline } from "./format/leafValues.js";
import { manifest } from "./format/manifest.js";
import { keyBytes } from "./keyBytes.js";

/** A key and its value, whole or in pieces. */
export interface OcdbtEntry {
  readonly key: string;
  readonly value: Uint8Array | StreamedValue;
}

/** How {@link writeOcdbt} writes; the defaults are Orbax's limits, except that its files have up to 2 GiB. */
export interface OcdbtWriteOptions {
  /** Most bytes of a data file, 256 MiB by default; only a longer value makes a longer file. */
  readonly dataFileBytes?: number | undefined;
  /** Longest value within the index, in bytes; 1,024 by default, at most a megabyte. */
  readonly maxInlineValueBytes?: number | undefined;
  /** Most bytes of a node of the index, by TensorStore's estimate; 100,000,000 by default. */
  readonly maxDecodedNodeBytes?: number | undefined;
  /** Of the index; values are stored as they are. `"none"` by default. */
  readonly compression?: "none" | "zstd" | undefined;
  /** Fresh random bytes, for the database's id and the files' names. */
  readonly random?: ((byteLength: number) => Uint8Array) | undefined;
  /** The time of the commit, in nanoseconds since the Unix epoch. */
  readonly now?: (() => bigint) | undefined;
}

/** What was written. */
export interface WrittenDatabase {
  /** Bytes of all files. */
  readonly byteLength: number;
  /** 0 where one leaf holds all keys, or there are none. */
  readonly height: number;
}

const defaults = {
  dataFileBytes: 256 * 1024 * 1024,
  maxInlineValueBytes: 1024,
  maxDecodedNodeBytes: 100_000_000,
  compression: "none",
  random: (byteLength: number) => crypto.getRandomValues(new Uint8Array(byteLength)),
  now: () => BigInt(Date.now()) * 1_000_000n,
} as const;

type Settings = Required<{ [Name in keyof OcdbtWriteOptions]: NonNullable<OcdbtWriteOptions[Name]> }>;

/**
 * Writes an OCDBT database of one version into the storage's root: values as they come, then the index, and last `manifest.ocdbt`,
 * before which there is no database. Values longer than those of the index go straight to data files, so memory holds a piece, and
 * keys. Where it fails, data files may stay behind: write into a folder that can be removed.
 * @param entries in any order.
 * @throws CheckpointValueError for a key that comes twice or is too long, StorageError where the place fails.
 */
export async function writeOcdbt(
  storage: WritableStorage,
  entries: Iterable<OcdbtEntry> | AsyncIterable<OcdbtEntry>,
  options: OcdbtWriteOptions = {},
  context: TaskContext = {},
): Promise<WrittenDatabase> {
  const settings = settingsOf(options);
  const nextPath = () => `d/${hexOf(settings.random(16))}`;
  const files = new DataFileWriter(storage, settings.dataFileBytes, nextPath, context);
  try {
    const stored = await storeValues(files, entries, settings, context);
    const tree = await storeTree(files, stored, settings);
    await files.close();
    const record = await sealManifest(tree, settings);
    await storage.write("manifest.ocdbt", record, { signal: context.signal });
    return { byteLength: files.byteLength + record.length, height: tree?.height ?? 0 };
  } catch (error) {
    await files.abort();
    throw error;
  }
}

function settingsOf(options: OcdbtWriteOptions): Settings {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...defaults, ...given };
}

/** The entries in the order of their keys, with the places of those values that are not in the index. */
async function storeValues(
  files: DataFileWriter,
  entries: Iterable<OcdbtEntry> | AsyncIterable<OcdbtEntry>,
  { maxInlineValueBytes }: Settings,
  { signal }: TaskContext,
): Promise<TreeEntry[]> {
  const stored: TreeEntry[] = [];
  for await (const { key, value } of entries) {
    signal?.throwIfAborted();
    const streamed = value instanceof Uint8Array ? { byteLength: value.length, pieces: [value] } : value;
    const isInline = streamed.byteLength <= Math.min(maxInlineValueBytes, longestInline);
    stored.push({ key: keyBytes(key), value: isInline ? await gathered(streamed) : await files.append(streamed) });
  }
  return stored.sort((a, b) => compareBytes(a.key, b.key));
}

/** A short value in memory of its own. */
async function gathered({ byteLength, pieces }: StreamedValue): Promise<Uint8Array> {
  const bytes = new Uint8Array(byteLength);
  let length = 0;
  for await (const piece of pieces) {
    if (length + piece.length <= byteLength) bytes.set(piece, length);
    length += piece.length;
  }
  if (length !== byteLength) throw new RangeError(`a value of ${byteLength} bytes came in pieces of ${length} together`);
  return bytes;
}

async function storeTree(files: DataFileWriter, entries: readonly TreeEntry[], settings: Settings): Promise<BuiltTree | undefined> {
  const building = buildTree(entries, settings.maxDecodedNodeBytes);
  let step = building.next();
  while (step.done !== true) {
    const record = await seal("B+tree node", writeBody(btreeNode, step.value), settings);
    step = building.next(await files.append({ byteLength: record.length, pieces: [record] }));
  }
  return step.value;
}

async function seal(kind: RecordKind, body: Uint8Array<ArrayBuffer>, { compression }: Settings): Promise<Uint8Array> {
  return sealEnvelope(kind, { compression, body: compression === "zstd" ? await encodeZstd(body) : body });
}

function sealManifest(tree: BuiltTree | undefined, settings: Settings): Promise<Uint8Array> {
  const config: OcdbtConfig = {
    uuid: settings.random(16),
    manifestKind: "single",
    maxInlineValueBytes: settings.maxInlineValueBytes,
    maxDecodedNodeBytes: settings.maxDecodedNodeBytes,
    versionTreeArityLog2: 4,
    compression: settings.compression === "zstd" ? { method: "zstd", level: 0 } : { method: "none" },
  };
  // A database without keys has no root, and a table with one file of no name.
  const root = tree === undefined ? missingRange : { offset: BigInt(tree.root.offset), length: BigInt(tree.root.length) };
  const statistics = tree?.statistics ?? { numKeys: 0n, numTreeBytes: 0n, numIndirectValueBytes: 0n };
  const version = { generation: 1n, rootHeight: tree?.height ?? 0, fileId: 0, ...root, ...statistics, commitTime: settings.now() };
  const files = [{ basePath: "", relativePath: tree?.root.path ?? "" }];
  return seal("manifest", writeBody(manifest, { config, content: { files, versions: [version], versionTreeNodes: [] } }), settings);
}

const hexOf = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
