import { compareBytes, startsWithBytes } from "../bytes/compare.js";
import type { ByteRange } from "../bytes/ranges.js";
import { CorruptCheckpointError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import type { Pace } from "../tasks/pace.js";
import { locateData, type RecordOrigin, readData } from "./dataFiles.js";
import type { FoundVersion } from "./findVersion.js";
import { type BtreeNode, btreeNode, type InteriorEntry } from "./format/btreeNode.js";
import { largestRecord, openRecord } from "./format/envelope.js";
import { type IndirectReference, isMissing } from "./format/indirectReference.js";
import type { LeafValue } from "./format/leafValues.js";
import { childrenWithin, findChild, findKey, keysWithin, restBelow } from "./search.js";
import { SharedReads, type Weighed } from "./sharedReads.js";

/** The value of a key, and the leaf that holds it. */
export interface FoundValue {
  readonly value: LeafValue;
  readonly origin: RecordOrigin;
}

/** Keys that are looked for together, and what was found of each. */
interface Search {
  readonly keys: readonly Uint8Array[];
  readonly found: (FoundValue | undefined)[];
  readonly pace: Pace | undefined;
}

/** A node, where it stands, and the start of its keys that it leaves out. */
interface PlacedNode {
  readonly node: BtreeNode;
  readonly origin: RecordOrigin;
  readonly prefix: Uint8Array;
}

/** What a parent, or a version, says of a node. */
interface NodeReference extends IndirectReference {
  readonly height: number;
  /** Least key of the node, relative to it. */
  readonly leastKey: Uint8Array;
}

/** Most keys that are listed: more than any checkpoint has, and few enough that a crafted tree cannot go on for ever. */
const mostKeys = 1024 * 1024;

const nothing = new Uint8Array();

/** Finds keys in the tree of one version. Each node is read once, and kept within a budget; the root is always kept. */
export class TreeReader {
  readonly #storage: ReadableStorage;
  readonly #version: FoundVersion;
  readonly #nodes: SharedReads<BtreeNode>;
  #placedRoot: PlacedNode | undefined;

  /** `cacheBytes`: about the memory of the nodes that are kept, in bytes. */
  constructor(storage: ReadableStorage, version: FoundVersion, cacheBytes: number) {
    this.#storage = storage;
    this.#version = version;
    this.#nodes = new SharedReads(cacheBytes);
  }

  /** The entry of exactly this key. */
  async find(key: Uint8Array, context: TaskContext): Promise<FoundValue | undefined> {
    const [found] = await this.findAll([key], context);
    return found;
  }

  /** The entries of exactly these keys, in their order. Nodes of one level are asked for together, and keys cost no promise each. */
  async findAll(
    keys: readonly Uint8Array[],
    { pace, ...context }: TaskContext & { readonly pace?: Pace | undefined },
  ): Promise<(FoundValue | undefined)[]> {
    const search: Search = { keys, found: keys.map(() => undefined), pace };
    const root = await this.#root(context);
    if (root !== undefined) await this.#findBelow(root, search, keys.keys(), context);
    return search.found;
  }

  async #findBelow(placed: PlacedNode, search: Search, indices: Iterable<number>, context: TaskContext): Promise<void> {
    const { node, origin, prefix } = placed;
    const groups = new Map<InteriorEntry, number[]>();
    let near = 0;
    for (const index of indices) {
      if (search.pace?.dueForSmallStep) await search.pace.rest();
      const key = search.keys[index] ?? nothing;
      if (!startsWithBytes(key, prefix)) continue;
      if (node.kind === "leaf") {
        const found = findKey(node.entries.keys, key, prefix.length, near);
        if (found === undefined) continue;
        search.found[index] = { value: node.entries.values.at(found), origin };
        near = found;
      } else {
        const child = findChild(node.children, key.subarray(prefix.length));
        const group = child && groups.get(child);
        if (group !== undefined) group.push(index);
        else if (child !== undefined) groups.set(child, [index]);
      }
    }
    await Promise.all(
      Array.from(groups, async ([child, below]) => {
        await this.#findBelow(await this.#child(placed, node.height, child, context), search, below, context);
      }),
    );
  }

  /** All keys that begin with the prefix, ascending, a leaf at a time. */
  async *keysWithin(prefix: Uint8Array, context: TaskContext): AsyncGenerator<readonly Uint8Array[]> {
    const root = await this.#root(context);
    if (root === undefined) return;
    let last: Uint8Array | undefined;
    let count = 0;
    for await (const { keys, origin } of this.#leavesWithin(root, prefix, context)) {
      const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ ...placeOf(origin), expected, received });
      const [first] = keys;
      if (first === undefined) continue;
      if (last !== undefined && compareBytes(last, first) >= 0) throw corrupt("keys above those of the node before", "others");
      count += keys.length;
      if (count > mostKeys) throw corrupt(`at most ${mostKeys} keys`, "more");
      last = keys.at(-1);
      yield keys;
    }
  }

  async *#leavesWithin(
    placed: PlacedNode,
    wanted: Uint8Array,
    context: TaskContext,
  ): AsyncGenerator<{ readonly keys: readonly Uint8Array[]; readonly origin: RecordOrigin }> {
    context.signal?.throwIfAborted();
    const { node, origin, prefix } = placed;
    // Either all of the node's keys begin with the wanted prefix, or what is left of it below the node decides.
    const rest = startsWithBytes(prefix, wanted) ? nothing : restBelow(wanted, prefix);
    if (rest === undefined) return;
    if (node.kind === "leaf") {
      yield { keys: keysWithin(node.entries.keys, rest).map((key) => join(prefix, key)), origin };
      return;
    }
    for (const child of childrenWithin(node.children, rest)) {
      yield* this.#leavesWithin(await this.#child(placed, node.height, child, context), wanted, context);
    }
  }

  async #root(context: TaskContext): Promise<PlacedNode | undefined> {
    const { version, origin } = this.#version;
    if (isMissing(version)) return undefined;
    context.signal?.throwIfAborted();
    this.#placedRoot ??= await this.#place(origin, { ...version, height: version.rootHeight, leastKey: nothing }, nothing, context);
    return this.#placedRoot;
  }

  #child({ origin, prefix }: PlacedNode, height: number, child: InteriorEntry, context: TaskContext): Promise<PlacedNode> {
    const { key, subtreeCommonPrefixLength: shared } = child;
    const reference = { ...child, height: height - 1, leastKey: key.subarray(shared) };
    return this.#place(origin, reference, join(prefix, key.subarray(0, shared)), context);
  }

  async #place(from: RecordOrigin, reference: NodeReference, prefix: Uint8Array, context: TaskContext): Promise<PlacedNode> {
    const { path, range, transitivePath } = locateData(from, reference);
    const isRoot = from === this.#version.origin;
    const key = `${range.offset}+${range.length} ${path}`;
    const node = await this.#nodes.get(key, (shared) => this.#read(path, range, isRoot, shared), context);
    checkNode(node, reference, path, range);
    return { node, origin: { path, offset: range.offset, transitivePath, files: node.files }, prefix };
  }

  async #read(path: string, range: ByteRange, isRoot: boolean, context: TaskContext): Promise<Weighed<BtreeNode>> {
    if (range.length > largestRecord) {
      throw new CorruptCheckpointError({
        path,
        offset: range.offset,
        expected: `a B+tree node of at most ${largestRecord} bytes`,
        received: `a length of ${range.length}`,
      });
    }
    const bytes = await readData(this.#storage, path, range, context);
    const node = await openRecord("B+tree node", btreeNode, bytes, { path, offset: range.offset }, context);
    return { value: node, byteLength: isRoot ? 0 : memoryOf(node) };
  }
}

/** What TensorStore checks, too: the height, and that the node begins where its parent says. */
function checkNode(node: BtreeNode, { height, leastKey }: NodeReference, path: string, { offset }: ByteRange): void {
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ path, offset, expected, received });
  if (node.height !== height) throw corrupt(`a B+tree node of height ${height}`, `height ${node.height}`);
  const first = (node.kind === "leaf" ? node.entries.keys.at(0) : node.children[0]?.key) ?? nothing;
  if (compareBytes(first, leastKey) < 0) throw corrupt("a first key at or above the one in the parent node", "one below");
}

/** About what the node holds: its bytes, and the objects of each child. */
function memoryOf(node: BtreeNode): number {
  if (node.kind === "leaf") return node.entries.keys.byteLength + node.entries.values.byteLength;
  return node.children.reduce((sum, { key }) => sum + key.length + 500, 0);
}

const placeOf = ({ path, offset }: RecordOrigin) => ({ path, offset });

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
