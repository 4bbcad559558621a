import type { OpenedStep, ProgressEvent } from "orbax-webgpu";
import type { Classifier } from "../digits/classifier.js";
import type { Evaluation } from "../digits/evaluate.js";
import type { TestImages } from "../digits/testImages.js";
import type { KeptOnDevice } from "./keptOnDevice.js";
import type { RestoredLeaf } from "./leafValues.js";
import type { GpuProblem } from "./requestGpu.js";
import type { Traffic } from "./traffic.js";

/** How far the restore of a step is, or how it ended. */
export type Phase =
  | { readonly kind: "opening" }
  | { readonly kind: "restoring"; readonly progress: ProgressEvent | undefined }
  | { readonly kind: "ready"; readonly restored: RestoredDigits }
  | { readonly kind: "no-gpu"; readonly problem: GpuProblem }
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "failed"; readonly error: Error };

/** A step whose arrays stand on the GPU. */
export interface RestoredDigits {
  readonly classifier: Classifier;
  readonly leaves: readonly RestoredLeaf[];
  /** Weights of the first layer, read back from its buffer: `[64, 128]`. */
  readonly firstKernel: Float32Array;
  readonly totalBytes: number;
  /** From the first request to the last buffer. */
  readonly milliseconds: number;
  readonly traffic: Traffic;
}

/** The check against the bundled test images. */
export type Check =
  | { readonly kind: "waiting" }
  | { readonly kind: "done"; readonly evaluation: Evaluation }
  | { readonly kind: "failed"; readonly error: Error };

/** Everything that the page knows of the checkpoint. */
export interface SessionState {
  /** Steps that there are, ascending. */
  readonly steps: readonly number[];
  /** The step in work; undefined until the steps are known. */
  readonly step: number | undefined;
  /** Known as soon as the index was read, before there is a device. */
  readonly opened: OpenedStep | undefined;
  readonly phase: Phase;
  readonly tests: TestImages | undefined;
  readonly check: Check;
  /** Undefined before a byte was kept, and after all were removed. */
  readonly kept: KeptOnDevice | undefined;
}

/** Before anything was read. */
export const initialState: SessionState = {
  steps: [],
  step: undefined,
  opened: undefined,
  phase: { kind: "opening" },
  tests: undefined,
  check: { kind: "waiting" },
  kept: undefined,
};
