import type { TrainState } from "../session/trainState.js";

/** What the page does, in a sentence that is also read out. */
export function statusOf({ phase, activity, run }: TrainState): string {
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
    case "idle":
      return run?.unsaved ? `Step ${step} is not saved yet.` : `Step ${step} is on the GPU, as it is saved.`;
    default:
      return activity satisfies never;
  }
}
