import { type JsonOptions, type JsonValue, longestJson, parseJson } from "../../bytes/json.js";
import { isCheckpointError } from "../../errors.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";

/** Reads JSON files that a restore can do without: one that cannot be read counts as absent, and is told of in `unreadable`. */
export class OptionalFiles {
  /** Why files that are there could not be read. */
  readonly unreadable: string[] = [];
  readonly #storage: ReadableStorage;
  readonly #context: TaskContext;
  readonly #read = new Map<string, Promise<JsonValue | undefined>>();

  constructor(storage: ReadableStorage, context: TaskContext) {
    this.#storage = storage;
    this.#context = context;
  }

  /** The file's value, read once; undefined where there is none. Only aborts, and changes of the file meanwhile, are thrown. */
  read(path: string, options: JsonOptions = {}): Promise<JsonValue | undefined> {
    const key = `${options.floats} ${path}`;
    const value = this.#read.get(key) ?? this.#parse(path, options);
    this.#read.set(key, value);
    return value;
  }

  async #parse(path: string, options: JsonOptions): Promise<JsonValue | undefined> {
    try {
      const bytes = await this.#storage.read(path, { longest: longestJson, signal: this.#context.signal });
      return bytes && parseJson(bytes, path, options);
    } catch (error) {
      const isUnreadable = isCheckpointError(error, "Corrupt") || (isCheckpointError(error, "Storage") && error.reason !== "changed");
      if (!isUnreadable) throw error;
      this.unreadable.push(error.message);
      return undefined;
    }
  }
}
