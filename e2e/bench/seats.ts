import { type BenchData, filesOf } from "./data/ensureData.js";
import type { ContenderName, Outcome, SavedSetName, SaverName, SetPart, Watch } from "./page/protocol.js";
import { isSavedSet } from "./page/saved/savedSets.js";
import type { Seat } from "./seat.js";
import type { Isolation, Series } from "./series.js";
import type { Stage } from "./stage.js";

const parts: Readonly<Record<ContenderName, SetPart>> = {
  ours: "checkpoints",
  "mirror-first": "checkpoints",
  "mirror-second": "checkpoints",
  floor: "raw.bin",
  naive: "raw.bin",
  zarrita: "zarr",
  "zarrita-together": "zarr",
  safetensors: "model.safetensors",
};

/** The open pages, one of each isolation at most, and the sets in their private file systems. */
export class Seats {
  readonly #stage: Stage;
  readonly #data: BenchData;
  readonly #open = new Map<Isolation, Seat>();
  readonly #copied = new Set<string>();

  constructor(stage: Stage, data: BenchData) {
    this.#stage = stage;
    this.#data = data;
  }

  /** The open page, or a new one. */
  async of(isolation: Isolation): Promise<Seat> {
    if (this.#open.get(isolation)?.isLost === true) await this.#close(isolation);
    const seat = this.#open.get(isolation) ?? (await this.#stage.open(isolation));
    this.#open.set(isolation, seat);
    return seat;
  }

  /** A page in a browser that was just started. */
  async fresh(isolation: Isolation): Promise<Seat> {
    await this.#close(isolation);
    return this.of(isolation);
  }

  /** Sees to it that what a series reads is in the page's private file system, where it reads from there. */
  async prepare(series: Series): Promise<void> {
    const { place, set, isolation, contender } = series;
    const part = parts[contender];
    const key = `${isolation} ${set} ${part}`;
    if (place !== "opfs" || isSavedSet(set) || this.#copied.has(key)) return;
    const seat = await this.of(isolation);
    const files = filesOf(this.#data, set, part).map(({ path }) => path);
    await seat.perform({ kind: "copy", set, part, version: this.#data.version, files });
    this.#copied.add(key);
  }

  /** Runs a series in the open page. @throws Error of what went wrong there. */
  async run(series: Series, watch: Watch): Promise<Outcome> {
    const seat = await this.of(series.isolation);
    const saved = this.#savedBy(series);
    if (saved !== undefined) return seat.run({ kind: "save", ...saved });
    return seat.run({ kind: "run", contender: series.contender, set: series.set, place: series.place, watch });
  }

  /** After a run of a series that saves, compares what it saved. @throws Error where that is wrong. */
  async check(series: Series): Promise<void> {
    const saved = this.#savedBy(series);
    if (saved !== undefined) await (await this.of(series.isolation)).perform({ kind: "check", ...saved });
  }

  async close(): Promise<void> {
    for (const isolation of this.#open.keys()) await this.#close(isolation);
  }

  /** What a series saves; undefined for those that restore. */
  #savedBy({ contender, set }: Series): { readonly saver: SaverName; readonly set: SavedSetName; readonly scale: number } | undefined {
    if (!isSavedSet(set)) return undefined;
    if (contender !== "ours" && contender !== "floor") throw new Error(`${contender} saves nothing`);
    return { saver: contender, set, scale: this.#data.scale };
  }

  async #close(isolation: Isolation): Promise<void> {
    const seat = this.#open.get(isolation);
    this.#open.delete(isolation);
    await seat?.close();
  }
}
