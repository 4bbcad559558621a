import { type Dtype, dtypes, isDtype } from "../../arrays/dtypes.js";
import { elementCount } from "../../arrays/spec.js";
import { UnsupportedCheckpointError } from "../../errors.js";
import type { FileWindow } from "../../storage/fileWindow.js";
import type { Pace } from "../../tasks/pace.js";
import type { TreeNode } from "../tree.js";
import { joinChunks } from "./chunkedArray.js";
import { type Head, headLength, readHead } from "./head.js";
import { complexLeaf, numberLeaf, type StateArray, type StateLeaf, textLeaf } from "./stateLeaf.js";
import { storedSpec } from "./storedSpec.js";

type StateNode = TreeNode<StateLeaf>;

/** Flax's extension types, and Orbax's for tuples. */
const extensions = { array: 1, complex: 2, scalar: 3, tuple: 4 } as const;

/** Deepest nesting, as in `_METADATA`; most nodes; longest key and text in bytes. */
const most = { depth: 512, nodes: 2 ** 20, key: 64 * 1024, text: 64 * 1024 * 1024 } as const;

/**
 * Reads a state file: the msgpack of a tree that Flax writes, and Orbax did before 0.5.21. The elements of its arrays are not read.
 * @param path names the file in errors.
 * @throws CorruptCheckpointError for what is no msgpack, or of no use, UnsupportedCheckpointError for a leaf that is neither an array, a
 *   number nor a text.
 */
export async function readStateTree(window: FileWindow, path: string, pace: Pace): Promise<StateNode> {
  const reader = new StateReader(window, path, pace);
  const tree = await reader.node();
  if (window.remaining > 0) throw window.corrupt("the end of the file", `${window.remaining} more bytes`);
  return tree;
}

class StateReader {
  readonly #window: FileWindow;
  readonly #path: string;
  readonly #pace: Pace;
  /** Keys of the node that is being read. */
  readonly #keys: string[] = [];
  #nodes = 0;

  constructor(window: FileWindow, path: string, pace: Pace) {
    this.#window = window;
    this.#path = path;
    this.#pace = pace;
  }

  async node(): Promise<StateNode> {
    this.#nodes += 1;
    if (this.#nodes > most.nodes) throw this.#window.corrupt(`at most ${most.nodes} nodes`, "more");
    if (this.#pace.dueForSmallStep) await this.#pace.rest();
    const offset = this.#window.position;
    const head = await this.#head();
    switch (head.kind) {
      case "map":
        return this.#map(head.count);
      case "array":
        return this.#list(head.count, "List");
      case "extension":
        return this.#extension(head.type, head.length, offset);
      default:
        return { kind: "leaf", leaf: await this.#leaf(head, offset) };
    }
  }

  async #leaf(head: Exclude<Head, { kind: "map" | "array" | "extension" }>, offset: number): Promise<StateLeaf> {
    switch (head.kind) {
      case "nil":
        return { kind: "empty", valueType: "None" };
      case "bool":
      case "int":
        return numberLeaf(head.value, false, offset);
      case "float":
        return numberLeaf(head.value, true, offset);
      case "string":
        return textLeaf(await this.#text(head.length, most.text));
      case "binary":
        throw this.#unsupported("bytes of Python");
      default:
        return head satisfies never;
    }
  }

  async #map(count: number): Promise<StateNode> {
    if (count === 0) return { kind: "leaf", leaf: { kind: "empty", valueType: "Dict" } };
    this.#requireCount(count, 2);
    const children = new Map<string, StateNode>();
    for (let index = 0; index < count; index++) {
      const key = await this.#key();
      if (children.has(key)) throw this.#window.corrupt("each key of a map once", `${JSON.stringify(key.slice(0, 100))} twice`);
      children.set(key, await this.#below(key));
    }
    const leaf = joinChunks(children, this.#window) ?? storedSpec(children);
    return leaf === undefined ? { kind: "mapping", children } : { kind: "leaf", leaf };
  }

  async #list(count: number, empty: "List" | "Tuple"): Promise<StateNode> {
    if (count === 0) return { kind: "leaf", leaf: { kind: "empty", valueType: empty } };
    this.#requireCount(count, 1);
    const children: StateNode[] = [];
    for (let index = 0; index < count; index++) children.push(await this.#below(String(index)));
    return { kind: "sequence", children };
  }

  async #below(key: string): Promise<StateNode> {
    if (this.#keys.length >= most.depth) throw this.#window.corrupt(`at most ${most.depth} nodes within each other`, "more");
    this.#keys.push(key);
    const node = await this.node();
    this.#keys.pop();
    return node;
  }

  async #extension(type: number, length: number, offset: number): Promise<StateNode> {
    const end = this.#window.position + length;
    if (length > this.#window.remaining) this.#window.skip(length);
    const node = await this.#extended(type, offset);
    if (this.#window.position !== end) throw this.#window.corrupt(`a value that ends at byte ${end}`, "another length");
    return node;
  }

  async #extended(type: number, offset: number): Promise<StateNode> {
    switch (type) {
      case extensions.array:
      case extensions.scalar:
        return { kind: "leaf", leaf: await this.#array(type === extensions.scalar) };
      case extensions.complex:
        await this.#count(2);
        return { kind: "leaf", leaf: complexLeaf(await this.#number(), await this.#number(), offset) };
      case extensions.tuple:
        return this.#list(await this.#count(), "Tuple");
      default:
        throw this.#unsupported(`a value of msgpack's extension type ${type}`);
    }
  }

  /** Shape, name of the dtype, elements. */
  async #array(isScalar: boolean): Promise<StateArray> {
    await this.#count(3);
    const rank = await this.#count();
    if (rank > 32) throw this.#window.corrupt("at most 32 axes", `${rank}`);
    const shape: number[] = [];
    while (shape.length < rank) shape.push(await this.#length());
    const dtype = await this.#dtype();
    const head = await this.#head();
    const expected = elementCount(shape) * dtypes[dtype].itemsize;
    if ((head.kind !== "binary" && head.kind !== "string") || head.length !== expected)
      throw this.#window.corrupt(
        `${expected} bytes of ${dtype}[${shape.join(", ")}]`,
        "length" in head ? `${head.length}` : `a ${head.kind}`,
      );
    const range = { offset: this.#window.position, length: expected };
    this.#window.skip(expected);
    return { kind: "array", dtype, shape, ranges: [range], isScalar };
  }

  async #dtype(): Promise<Dtype> {
    const head = await this.#head();
    if (head.kind !== "string" && head.kind !== "binary") throw this.#window.corrupt("the name of a dtype", `a ${head.kind}`);
    const name = await this.#text(head.length, most.key);
    if (isDtype(name)) return name;
    throw this.#unsupported(`an array of dtype ${JSON.stringify(name.slice(0, 100))}, which JAX does not have`);
  }

  async #length(): Promise<number> {
    const head = await this.#head();
    if (head.kind === "int" && typeof head.value === "number" && head.value >= 0) return head.value;
    throw this.#window.corrupt("a length", head.kind === "int" ? `${head.value}` : `a ${head.kind}`);
  }

  async #number(): Promise<number> {
    const head = await this.#head();
    if (head.kind === "int" || head.kind === "float") return Number(head.value);
    throw this.#window.corrupt("a number", `a ${head.kind}`);
  }

  /** How many elements a list has, which must be `expected` where that is given. */
  async #count(expected?: number): Promise<number> {
    const head = await this.#head();
    if (head.kind === "array" && (expected ?? head.count) === head.count) return head.count;
    throw this.#window.corrupt(`a list${expected === undefined ? "" : ` of ${expected}`}`, `a ${head.kind}`);
  }

  async #key(): Promise<string> {
    const head = await this.#head();
    if (head.kind === "string" || head.kind === "binary") return this.#text(head.length, most.key);
    if (head.kind === "int") return String(head.value);
    throw this.#window.corrupt("a key that is a text", `a ${head.kind}`);
  }

  async #text(length: number, longest: number): Promise<string> {
    if (length > longest) throw this.#window.corrupt(`a text of at most ${longest} bytes`, `${length}`);
    if (!this.#window.has(length)) await this.#window.fill(length);
    try {
      return decoder.decode(this.#window.take(length));
    } catch {
      throw this.#window.corrupt("UTF-8", "bytes that are not");
    }
  }

  async #head(): Promise<Head> {
    if (!this.#window.has(1)) await this.#window.fill(1);
    const length = headLength(this.#window.peek());
    if (!this.#window.has(length)) await this.#window.fill(length);
    const head = readHead(this.#window.take(length));
    if (head === undefined) throw this.#window.corrupt("a msgpack value", "the byte 0xc1, which begins none");
    return head;
  }

  /** Nothing is begun that the rest of the file cannot hold. */
  #requireCount(count: number, bytesEach: number): void {
    if (count * bytesEach > this.#window.remaining)
      throw this.#window.corrupt(`bytes for ${count} values`, `the end after ${this.#window.remaining}`);
  }

  #unsupported(what: string): UnsupportedCheckpointError {
    const leaf = this.#keys.length === 0 ? "the root" : `leaf ${JSON.stringify(this.#keys.join("/"))}`;
    return new UnsupportedCheckpointError(`${this.#path}: ${leaf} is ${what}, and is not read; save the tree again without it`);
  }
}

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
