import type { TrainState } from "../session/trainState.js";

/** What the page does, in a sentence that is also read out. */
export function statusOf({ phase, activity, run, saved }: TrainState): string {
  switch (phase.kind) {
    case "opening":
      return "Restoring the latest step…";
    case "elsewhere":
      return phase.watching ? `Watching the other tab${run === undefined ? "" : `, which is at step ${run.step}`}.` : "";
    case "no-files":
    case "no-gpu":
    case "lost":
    case "failed":
      return "";
    case "ready":
      break;
    default:
      return phase satisfies never;
  }
  const step = run?.step ?? 0;
  switch (activity) {
    case "training":
      return "Training on the GPU…";
    case "saving":
      return `Saving step ${step}…`;
    case "restoring":
      return "Restoring…";
    case "deleting":
      return "Deleting…";
    case "exporting":
      return "Packing the steps…";
    case "importing":
      return "Unpacking the steps…";
    case "idle":
      return `Step ${step} is ${run?.unsaved ? "not saved yet" : "on the GPU, as it is saved"}.${laterSteps(run, saved)}`;
    default:
      return activity satisfies never;
  }
}

const laterSteps = (run: TrainState["run"], saved: TrainState["saved"]) =>
  (saved?.latest ?? 0) > (run?.origin ?? 0) ? ` The next save deletes those after ${run?.origin}.` : "";
