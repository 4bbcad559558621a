import { isCheckpointError } from "orbax-webgpu";
import { keepForOffline } from "../../session/keptOnDevice.js";
import { withImage, withoutLast } from "../data/images.js";
import { type DigitsRun, type RunContext, restoreRun } from "../run/digitsRun.js";
import { openContext } from "./openContext.js";
import { type Origin, SavedPlace } from "./savedPlace.js";
import { type Activity, initialState, type RunView, type TrainState } from "./trainState.js";
import { type Turn, takeTurn } from "./turn.js";
import { showOthers, watchOthers } from "./watching.js";

/** How long to train, and when to save, in steps; undefined: until paused, and only when asked. */
export interface Plan {
  readonly steps: number | undefined;
  readonly every: number | undefined;
}

/** Steps from one look at the test images to the next. */
const testEvery = 10;

/** What a page does from its opening to its end: trains, saves, restores, or watches another tab. */
export class TrainSession {
  readonly #take: (state: TrainState) => void;
  readonly #ending = new AbortController();
  #state = initialState;
  #show: ReturnType<typeof showOthers> | undefined;
  #turn: Turn | undefined;
  #place: SavedPlace | undefined;
  #context: RunContext | undefined;
  #run: DigitsRun | undefined;
  /** The step that the run went on from, or that it saved last. */
  #origin = 0;
  /** What of the run is saved. */
  #saved: SavedMark | undefined;
  #pausing = false;

  /** @param take is given each state that the page comes to. */
  constructor(take: (state: TrainState) => void) {
    this.#take = take;
  }

  /** Begins: trains where no other tab does, else offers to watch it until it ends. */
  async open(): Promise<void> {
    await this.#orFail(async () => {
      this.#turn = await takeTurn(false, this.#signal);
      if (this.#turn !== undefined) return this.#openFiles();
      this.#tell({ phase: { kind: "elsewhere", watching: false } });
      const watching = new AbortController();
      this.#signal.addEventListener("abort", () => watching.abort(), { once: true });
      watchOthers((now) => this.#tell(now), watching.signal);
      this.#turn = await takeTurn(true, this.#signal);
      watching.abort();
      this.#tell(initialState);
      await this.#openFiles();
    });
  }

  /** Shows what the other tab does. */
  watch(): void {
    this.#tell({ phase: { kind: "elsewhere", watching: true } });
  }

  /** Trains without files: steps are kept as long as the page. */
  async useMemory(): Promise<void> {
    await this.#orFail(() => this.#openRun(new SavedPlace("memory")));
  }

  /** Trains by a plan, until it is done or paused. */
  async train({ steps, every }: Plan): Promise<void> {
    await this.#act("training", async () => {
      const run = this.#requireRun();
      this.#pausing = false;
      const end = steps === undefined ? Number.POSITIVE_INFINITY : run.step + steps;
      while (!this.#pausing && run.step < end) {
        await run.learn(Math.min(end, nextMultiple(run.step, testEvery), nextMultiple(run.step, every)) - run.step);
        const isDue = every !== undefined && run.step % every === 0;
        if (isDue || run.step % testEvery === 0) await run.test();
        this.#tellRun();
        if (!isDue) continue;
        await this.#save(run);
        this.#tell({ activity: "training" });
      }
    });
  }

  /** Ends the training after a few more steps. */
  pause(): void {
    this.#pausing = true;
  }

  /** Saves the step as it stands. */
  async save(): Promise<void> {
    await this.#act("saving", async () => {
      const run = this.#requireRun();
      await run.test();
      await this.#save(run);
    });
  }

  /** Goes back to a step. */
  async restore(origin: Origin): Promise<void> {
    await this.#act("restoring", () => this.#restore(origin));
  }

  async delete(step: number): Promise<void> {
    await this.#act("deleting", async () => {
      await this.#place?.delete(step, this.#signal);
      if (this.#saved?.step === step) this.#saved = undefined;
      await this.#list();
    });
  }

  /** All saved steps as a ZIP; undefined where that failed. */
  async export(): Promise<Blob | undefined> {
    let zip: Blob | undefined;
    await this.#act("exporting", async () => {
      zip = await this.#place?.exported(this.#signal);
    });
    return zip;
  }

  /** Adds the steps of a ZIP to the saved ones. */
  async import(zip: Blob): Promise<void> {
    await this.#act("importing", async () => {
      await this.#place?.import(zip, this.#signal);
      await this.#list();
    });
  }

  /** Forgets what went wrong. */
  forgive(): void {
    this.#tell({ trouble: undefined });
  }

  /** Adds a drawing to what is learned from. */
  addDrawing(image: Uint8Array, digit: number): void {
    if (this.#run !== undefined) this.#run.drawn = withImage(this.#run.drawn, image, digit);
    this.#tellRun();
  }

  /** Learns faster or slower from now on. */
  setLearningRate(rate: number): void {
    if (this.#run !== undefined) this.#run.learningRate = rate;
    this.#tellRun();
  }

  /** Takes the last drawing back. */
  dropDrawing(): void {
    if (this.#run !== undefined) this.#run.drawn = withoutLast(this.#run.drawn);
    this.#tellRun();
  }

  /** Ends everything; resolves once another session may train. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#turn?.released;
  }

  get #signal(): AbortSignal {
    return this.#ending.signal;
  }

  async #openFiles(): Promise<void> {
    const place = new SavedPlace("files");
    try {
      await place.list(this.#signal);
    } catch (error) {
      if (!isCheckpointError(error, "Storage") || error.reason !== "unavailable") throw error;
      return this.#tell({ phase: { kind: "no-files", error } });
    }
    await this.#openRun(place, false);
  }

  async #openRun(place: SavedPlace, inMemory = true): Promise<void> {
    this.#place = place;
    this.#show = showOthers(this.#signal);
    this.#tell({ phase: { kind: "opening" }, inMemory });
    await this.#list();
    const context = await openContext(this.#signal);
    if (typeof context === "string") return this.#tell({ phase: { kind: "no-gpu", problem: context } });
    this.#context = context;
    void context.device.lost.then(({ message }) =>
      this.#tell({ phase: { kind: "lost", message: message || "the browser gave no reason" } }),
    );
    await this.#restore(this.#state.saved?.latest ?? "python");
    void keepForOffline().then(
      (worksOffline) => this.#tell({ worksOffline }),
      () => undefined, // without a network now, or without such files: nothing changes
    );
  }

  async #restore(origin: Origin): Promise<void> {
    if (this.#place === undefined || this.#context === undefined) return;
    const opened = await this.#place.open(origin, this.#signal);
    const run = await restoreRun(opened, this.#context, this.#signal);
    this.#run?.destroy();
    this.#run = run;
    this.#origin = run.step;
    this.#saved = markOf(run);
    await run.test();
    this.#tellRun({ phase: { kind: "ready" } });
  }

  async #save(run: DigitsRun): Promise<void> {
    const saved = markOf(run);
    this.#tell({ activity: "saving" });
    await this.#place?.save(run, this.#origin, this.#signal);
    this.#origin = saved.step;
    this.#saved = saved;
    await this.#list();
  }

  async #list(): Promise<void> {
    const saved = await this.#place?.list(this.#signal);
    this.#tell({ saved });
  }

  #requireRun(): DigitsRun {
    if (this.#run === undefined) throw new Error("there is no run yet");
    return this.#run;
  }

  /** Does one thing at a time, and tells what went wrong with it. */
  async #act(activity: Exclude<Activity, "idle">, work: () => Promise<void>): Promise<void> {
    if (this.#state.activity !== "idle") return;
    this.#tell({ activity, trouble: undefined });
    try {
      await work();
      this.#tellRun({ activity: "idle" });
    } catch (cause) {
      this.#tellRun({ activity: "idle", trouble: { during: this.#state.activity, error: errorOf(cause) } });
    }
  }

  async #orFail(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      this.#tell({ phase: { kind: "failed", error: errorOf(cause), canRestore: this.#context !== undefined } });
    }
  }

  #tellRun(change: Partial<TrainState> = {}): void {
    const run = this.#run;
    this.#tell(run === undefined ? change : { ...change, run: this.#viewOf(run), classifier: { ...run.classifier } });
  }

  #viewOf(run: DigitsRun): RunView {
    const { step, epoch, learningRate, history, drawn } = run;
    const bundled = this.#context?.bundled.count ?? 0;
    const saved = this.#saved;
    const unsaved = step !== saved?.step || drawn !== saved.drawn || learningRate !== saved.learningRate;
    return { step, epoch, learningRate, history, bundled, drawn, origin: this.#origin, unsaved };
  }

  #tell(change: Partial<TrainState>): void {
    if (this.#signal.aborted) return;
    this.#state = { ...this.#state, ...change };
    this.#take(this.#state);
    const { activity, run, saved } = this.#state;
    this.#show?.({ activity, run, saved });
  }
}

/** The next step that is a multiple; infinite of nothing. */
const nextMultiple = (step: number, of: number | undefined): number =>
  of === undefined ? Number.POSITIVE_INFINITY : (Math.floor(step / of) + 1) * of;

/** What a saved step has of a run that may have changed since. */
type SavedMark = Pick<DigitsRun, "step" | "drawn" | "learningRate">;

const markOf = ({ step, drawn, learningRate }: DigitsRun): SavedMark => ({ step, drawn, learningRate });

const errorOf = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));
