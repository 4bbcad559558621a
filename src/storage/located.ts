import type { ByteRange } from "../bytes/ranges.js";
import type { TaskContext } from "../tasks/context.js";
import type { Pace } from "../tasks/pace.js";
import type { ReadableStorage } from "./storage.js";

/** A run of bytes of a file. */
export interface RangeLocation {
  readonly storage: ReadableStorage;
  /** The file; of an inline value, the file of the index that holds it. */
  readonly path: string;
  /** Where the bytes are in the file; of an inline value, its length, and where the part of the index begins that holds it. */
  readonly range: ByteRange;
  /** The bytes themselves, where they stand in an index that was read. */
  readonly inline?: Uint8Array;
}

/** A file of its own, of unknown length, which may not be there. */
export interface FileLocation {
  readonly storage: ReadableStorage;
  readonly path: string;
  readonly range?: undefined;
}

/** What takes many paths rests where its caller's pace says so. */
export interface PacedContext extends TaskContext {
  readonly pace?: Pace | undefined;
}

/** How {@link LocatedStorage.readAll} reads. */
export interface ReadAllOptions extends PacedContext {
  /** Most bytes of one value. */
  readonly longest?: number | undefined;
}

/** What knows where the bytes of its paths are without reading them. */
export interface LocatedStorage {
  /** Where the bytes of many paths are, in their order, without a promise for each: a few thousand paths at a time. */
  locateAll(paths: readonly string[], context?: PacedContext): Promise<readonly (RangeLocation | FileLocation | undefined)[]>;
  /**
   * The bytes of many paths, in their order. Those that stand in an index are views into it: read them at once, and keep none.
   * @throws as `read` of a storage, and CorruptCheckpointError for a value longer than `longest` bytes.
   */
  readAll(paths: readonly string[], options?: ReadAllOptions): Promise<readonly (Uint8Array | undefined)[]>;
}
