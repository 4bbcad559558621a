// What the bench and its page say to each other: the page tells, and the answer is its next command.

/** A set that is made in the page, by what is done with it: saved. */
export type SavedSetName = "save-256m" | "save-512m" | "save-512m-array";

export type SetName =
  | SavedSetName
  | "f32-64"
  | "f32-one-frame"
  | "f32-chunks"
  | "bf16-one-frame"
  | "small"
  | "64m-one-frame"
  | "64m-chunks"
  | "1g-one-frame"
  | "1g-chunks"
  | "minilm";

/** Where the bytes lie: the browser's private file system, our server, or our server behind a slow network. */
export type Place = "opfs" | "http" | "slow";

export type ContenderName = "ours" | "mirror-first" | "mirror-second" | "floor" | "naive" | "zarrita" | "zarrita-together" | "safetensors";

/** Who saves. */
export type SaverName = "ours" | "floor";

/** What a page looks at while a contender works: its main thread and its heap cost some of its time to watch. */
export type Watch = "time" | "pings" | "heap";

/** An array of a set and some of its 32-bit words, as its GPUBuffer has to hold them. */
export interface ArrayDescription {
  readonly name: string;
  readonly byteLength: number;
  readonly indices: readonly number[];
  readonly words: readonly number[];
}

/** A set's `set.json`. */
export interface SetDescription {
  readonly bytes: number;
  /** In the order of `raw.bin`. */
  readonly arrays: readonly ArrayDescription[];
}

/** What different contenders read of a set: a folder of the store's, a folder of plain zarr arrays, or a file. */
export type SetPart = "checkpoints" | "zarr" | "raw.bin" | "model.safetensors";

export type Command =
  | { readonly kind: "run"; readonly contender: ContenderName; readonly set: SetName; readonly place: Place; readonly watch: Watch }
  /** Copies a part of a set into the private file system, unless this version of it is there. */
  | { readonly kind: "copy"; readonly set: SetName; readonly part: SetPart; readonly version: string; readonly files: readonly string[] }
  /** Makes a set, `scale` times smaller than it is, and saves it. */
  | { readonly kind: "save"; readonly saver: SaverName; readonly set: SavedSetName; readonly scale: number }
  /** Compares words of what was saved last, and removes it. */
  | { readonly kind: "check"; readonly saver: SaverName; readonly set: SavedSetName; readonly scale: number }
  | { readonly kind: "reload" };

/** What a run came to. */
export interface Outcome {
  /** From the call until all bytes are on the GPU, or saved. */
  readonly milliseconds: number;
  /** Longest time between two pings of the main thread; only where they were watched. */
  readonly longestGap?: number;
  /** Growth of the heaps of the page and its workers, in bytes: objects and ArrayBuffers, but no wasm memory; only where it was watched. */
  readonly heapBytes?: number;
  /** The workers' part of it. */
  readonly workerHeapBytes?: number;
}

export type Told =
  | { readonly kind: "ready"; readonly browser: string; readonly adapter: string; readonly isolated: boolean }
  | { readonly kind: "copied" }
  | { readonly kind: "checked" }
  | { readonly kind: "done"; readonly outcome: Outcome }
  | { readonly kind: "failed"; readonly message: string };
