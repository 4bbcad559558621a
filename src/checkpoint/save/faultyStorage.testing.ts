import { StorageError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import type { WritableStorage } from "../../storage/storage.js";

/** Files by path. */
export type Files = Map<string, Uint8Array>;

/** What happens at a changing operation: it fails, and later ones work, or nothing happens from there on, as in a tab that was killed. */
export type Fault = { readonly at: number; readonly kind: "fails" | "stops" };

/** A memory storage that counts its changes, and meets a fault at one of them; a removal of many files, and a write, are cut in the middle. */
export class FaultyStorage {
  readonly storage: WritableStorage;
  readonly #memory: WritableStorage;
  readonly #fault: Fault | undefined;
  changes = 0;

  constructor(files: Files, fault?: Fault) {
    this.#memory = memoryStorage(new Map(files));
    this.#fault = fault;
    const memory = this.#memory;
    this.storage = {
      ...memory,
      write: (path, bytes, options) => this.#change(() => memory.write(path, bytes, options)),
      move: (from, to, options) => this.#change(() => memory.move(from, to, options)),
      remove: (path, options) =>
        this.#change(
          () => memory.remove(path, options),
          () => this.#removeSome(path),
        ),
      create: async (path, options) => {
        const writer = await memory.create(path, options);
        return {
          write: (bytes) => this.#change(() => writer.write(bytes)),
          close: () => this.#change(() => writer.close()),
          abort: () => this.#change(() => writer.abort()).catch(() => undefined),
        };
      },
    };
  }

  /** All files as they are now. */
  files(): Promise<Files> {
    return filesOf(this.#memory);
  }

  async #change(work: () => Promise<void>, half: () => Promise<void> = async () => {}): Promise<void> {
    const index = this.changes++;
    const { at, kind } = this.#fault ?? { at: Number.POSITIVE_INFINITY, kind: "fails" };
    if (index === at) await half();
    if (index === at || (kind === "stops" && index > at)) throw new StorageError({ path: "", reason: "io", message: `fault at ${index}` });
    await work();
  }

  async #removeSome(path: string): Promise<void> {
    const below = [...(await this.files()).keys()].filter((file) => file.startsWith(`${path}/`));
    // Folders list in any order.
    const order = below.sort((a, b) => hash(a + this.#fault?.at) - hash(b + this.#fault?.at));
    for (const file of order.slice(0, Math.ceil(order.length / 2))) await this.#memory.remove(file);
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
