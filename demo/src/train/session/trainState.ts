import type { Classifier } from "../../digits/classifier.js";
import type { GpuProblem } from "../../session/requestGpu.js";
import type { LabelledImages } from "../data/images.js";
import type { History } from "../run/history.js";
import type { SavedSteps } from "./savedSteps.js";

/** How far the page has come. */
export type Phase =
  | { readonly kind: "opening" }
  /** Another tab trains; `watching`: its curves are shown. */
  | { readonly kind: "elsewhere"; readonly watching: boolean }
  /** The browser has no files for this page. */
  | { readonly kind: "no-files"; readonly error: Error }
  | { readonly kind: "no-gpu"; readonly problem: GpuProblem }
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "failed"; readonly error: Error /** Whether another step can be tried. */; readonly canRestore: boolean }
  | { readonly kind: "ready" };

/** What is being done. */
export type Activity = "idle" | "training" | "saving" | "restoring" | "deleting" | "exporting" | "importing";

/** The run as the page shows it. */
export interface RunView {
  readonly step: number;
  readonly epoch: number;
  readonly learningRate: number;
  readonly history: History;
  /** Bundled images. */
  readonly bundled: number;
  readonly drawn: LabelledImages;
  /** The step that the run went on from, or saved last: later ones are not its own, and go with the next save. */
  readonly origin: number;
  /** Whether anything would be lost with the page. */
  readonly unsaved: boolean;
}

/** Something that did not work, which can be tried again. */
export interface Trouble {
  readonly during: Activity;
  readonly error: Error;
}

/** What another tab that watches gets to see. */
export interface Watched {
  readonly activity: Activity;
  readonly run: RunView | undefined;
  readonly saved: SavedSteps | undefined;
}

/** Everything that the page knows. */
export interface TrainState extends Watched {
  readonly phase: Phase;
  /** Reads images with the weights as they stand; a new object whenever they changed. */
  readonly classifier: Classifier | undefined;
  /** What went wrong with the run or with the saved steps. */
  readonly trouble: Trouble | undefined;
  /** Whether steps are lost with the page. */
  readonly inMemory: boolean;
  /** Whether the page, and Python's step, are kept on the device. */
  readonly worksOffline: boolean;
}

/** Before anything was read. */
export const initialState: TrainState = {
  phase: { kind: "opening" },
  activity: "idle",
  run: undefined,
  classifier: undefined,
  saved: undefined,
  trouble: undefined,
  inMemory: false,
  worksOffline: false,
};
