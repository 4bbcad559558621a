import { StorageError } from "../../errors.js";
import type { FileWriter } from "../../storage/fileWriter.js";
import type { WritableStorage } from "../../storage/storage.js";

/** Files by path. */
export type Files = Map<string, Uint8Array>;

/** What happens at a changing operation: it fails, and later ones work, or nothing happens from there on, as in a tab that was killed. */
export type Fault = { readonly at: number; readonly kind: "fails" | "stops" };

/**
 * A storage that counts its changes, and meets a fault at one of them; a removal of many files is cut in the middle, and so is a file that
 * was being written when all stopped.
 */
export class FaultyStorage {
  readonly storage: WritableStorage;
  readonly #inner: WritableStorage;
  readonly #fault: Fault | undefined;
  changes = 0;

  constructor(inner: WritableStorage, fault?: Fault) {
    this.#inner = inner;
    this.#fault = fault;
    this.storage = {
      ...inner,
      write: (path, bytes, options) =>
        this.#change(
          () => inner.write(path, bytes, options),
          () => this.#leaveBegun(path),
        ),
      move: (from, to, options) => this.#change(() => inner.move(from, to, options)),
      remove: (path, options) =>
        this.#change(
          () => inner.remove(path, options),
          () => this.#removeSome(path),
        ),
      create: (path, options) => this.#change(async () => this.#faulty(path, await inner.create(path, options))),
    };
  }

  /** All files as they are now. */
  files(): Promise<Files> {
    return filesOf(this.#inner);
  }

  get #isStopped(): boolean {
    return this.#fault?.kind === "stops" && this.changes > this.#fault.at;
  }

  #faulty(path: string, writer: FileWriter): FileWriter {
    return {
      write: (bytes) => this.#change(() => writer.write(bytes)),
      close: () => this.#change(() => writer.close()),
      abort: async () => {
        // The file's handles go in any case, as they do with a tab.
        await writer.abort();
        if (this.#isStopped) await this.#leaveBegun(path);
      },
    };
  }

  async #change<Value>(work: () => Promise<Value>, half: () => Promise<void> = async () => {}): Promise<Value> {
    const index = this.changes++;
    const { at, kind } = this.#fault ?? { at: Number.POSITIVE_INFINITY, kind: "fails" };
    if (index === at) await half();
    if (index === at || (kind === "stops" && index > at)) throw new StorageError({ path: "", reason: "io", message: `fault at ${index}` });
    return work();
  }

  /** Where files are filled beside their place, that is what is left of one. */
  async #leaveBegun(path: string): Promise<void> {
    if (this.#isStopped) await this.#inner.write(`${path.slice(0, path.lastIndexOf("/") + 1)}.nobody.1.partial`, Uint8Array.of(1, 2, 3));
  }

  async #removeSome(path: string): Promise<void> {
    const below = [...(await this.files()).keys()].filter((file) => file.startsWith(`${path}/`));
    // Folders list in any order.
    const order = below.sort((a, b) => hash(a + this.#fault?.at) - hash(b + this.#fault?.at));
    for (const file of order.slice(0, Math.ceil(order.length / 2))) await this.#inner.remove(file);
  }
}

const hash = (text: string): number => Array.from(text).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1_000_003, 7);

/** All files of a storage. */
export async function filesOf(storage: WritableStorage): Promise<Files> {
  const files: Files = new Map();
  const visit = async (prefix: string): Promise<void> => {
    const listing = await storage.list(prefix);
    for (const name of listing.files) files.set(prefix + name, (await storage.read(prefix + name)) ?? new Uint8Array());
    for (const name of listing.directories) await visit(`${prefix}${name}/`);
  };
  await visit("");
  return files;
}
