import { formatPartialName, partialOwner } from "../partialName.js";
import { isAbsence } from "./failures.js";

/** A name for a file that is going to be filled. */
export interface PartialName {
  readonly name: string;
  /** The file has got its place, or was removed. Further calls do nothing. */
  release(): void;
}

/** How long a thread keeps its lock without a file that it fills, in milliseconds: the next one often follows soon. */
const idleMs = 1000;

const uuid = /^[0-9a-f-]{36}$/;

const lockOf = (owner: string) => `orbax-webgpu partial ${owner}`;

/** Not everywhere, whatever the types say. */
const locksHere = () => (globalThis.navigator as Partial<Navigator> | undefined)?.locks as LockManager | undefined;

/** Names for what one thread fills. It holds a Web Lock meanwhile, which goes with the thread, so that others know whose files are left. */
export class PartialNames {
  readonly #owner: string = crypto.randomUUID();
  #given = 0;
  #open = 0;
  #lock: Promise<() => void> | undefined;

  /** Gives a name, when the lock is held. */
  async take(): Promise<PartialName> {
    this.#open += 1;
    this.#lock ??= held(lockOf(this.#owner));
    let isReleased = false;
    const release = () => {
      if (!isReleased) this.#leave();
      isReleased = true;
    };
    await this.#lock.catch((error: unknown) => {
      this.#lock = undefined;
      release();
      throw error;
    });
    return { name: formatPartialName(this.#owner, ++this.#given), release };
  }

  #leave(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    setTimeout(() => {
      if (this.#open > 0) return;
      this.#lock?.then((release) => release());
      this.#lock = undefined;
    }, idleMs);
  }
}

/** Holds a lock until what it resolves to is called. */
function held(name: string): Promise<() => void> {
  const locks = locksHere();
  if (locks === undefined) return Promise.resolve(() => {});
  return new Promise((resolve, reject) => {
    locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}

/** Removes the files in a folder that threads were filling which have ended; throws what the browser does. */
export async function removeAbandoned(folder: FileSystemDirectoryHandle): Promise<void> {
  const locks = locksHere();
  if (locks === undefined) return;
  const byOwner = new Map<string, string[]>();
  for await (const { kind, name } of folder.values()) {
    const owner = kind === "file" ? partialOwner(name) : undefined;
    if (owner !== undefined && uuid.test(owner)) byOwner.set(owner, [...(byOwner.get(owner) ?? []), name]);
  }
  for (const [owner, names] of byOwner) {
    await locks.request(lockOf(owner), { ifAvailable: true }, async (lock) => {
      if (lock !== null) for (const name of names) await folder.removeEntry(name).catch(unlessGone);
    });
  }
}

function unlessGone(cause: unknown): void {
  if (!isAbsence(cause)) throw cause;
}
