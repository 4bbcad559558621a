import { isCheckpointError } from "../../errors.js";
import type { ExtentWriter } from "./extentWriter.js";
import type { Keeper } from "./keeper.js";
import type { KeptFile } from "./keptFile.js";

/** What one opening keeps of what it fetched. Nothing here fails a read: the keeper is told. */
export class Keeping {
  readonly #keeper: Keeper;
  readonly #life: number;
  readonly #stamped = new Set<KeptFile>();
  #isFull = false;
  #askedForRoom = false;

  constructor(keeper: Keeper) {
    this.#keeper = keeper;
    this.#life = keeper.life;
  }

  /** False once the mirror was removed, or the disk is full: from then on this opening only reads. */
  get isOn(): boolean {
    return !this.#isFull && this.#keeper.life === this.#life;
  }

  /** @returns whether the work was done. */
  async attempt(work: () => Promise<unknown>): Promise<boolean> {
    return this.isOn && this.#attempt(work);
  }

  /** Asks, before the first bytes, whether there is room for them. */
  async requireRoom(byteLength: number): Promise<void> {
    if (this.#askedForRoom) return;
    this.#askedForRoom = true;
    await this.attempt(() => this.#keeper.folder.requireRoom(byteLength));
  }

  /** Begins to keep what is fetched from a position on; undefined where nothing can be kept. */
  async begin(file: KeptFile, offset: number): Promise<ExtentWriter | undefined> {
    let writer: ExtentWriter | undefined;
    await this.attempt(async () => {
      writer = await file.begin(offset);
    });
    return writer;
  }

  /** Ends an extent, which counts from now on, and sees to the limit. */
  async end(file: KeptFile, writer: ExtentWriter): Promise<void> {
    let kept = 0;
    await this.#attempt(async () => {
      kept = await writer.end();
    });
    if (kept === 0) return;
    await this.stamp(file);
    await this.attempt(async () => this.#keeper.usage?.grew(kept));
  }

  /** Files without a stamp go first where there is a limit. */
  async stamp(file: KeptFile): Promise<void> {
    if (this.#keeper.usage === undefined || this.#stamped.has(file)) return;
    this.#stamped.add(file);
    await this.attempt(() => file.stamp());
  }

  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    const done = await this.#keeper.attempt(async () => {
      try {
        await work();
        return true;
      } catch (error) {
        if (isCheckpointError(error, "Storage") && error.reason === "quota") this.#isFull = true;
        throw error;
      }
    });
    return done === true;
  }
}
