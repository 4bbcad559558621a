import type { TrainReport } from "../../../trainReport.mjs";
import { gpuProblems } from "../../session/requestGpu.js";
import type { TrainState } from "./trainState.js";

declare global {
  interface Window {
    /** Where the training page stands, for `npm run demo -- --headless train`. */
    orbaxTrainReport?: TrainReport | undefined;
  }
}

/** What the page has come to. */
export function trainReport({ phase, activity, trouble, run, saved }: TrainState): TrainReport {
  const facts = {
    step: run?.step,
    start: run?.history.start,
    losses: run?.history.losses,
    saved: saved?.steps.map(({ step }) => step),
  };
  const message = trouble?.error.message ?? messageOf(phase);
  if (message !== undefined) return { ...facts, status: "error", message };
  return { ...facts, status: phase.kind === "ready" && activity === "idle" ? "ready" : "busy" };
}

function messageOf(phase: TrainState["phase"]): string | undefined {
  switch (phase.kind) {
    case "opening":
    case "ready":
      return undefined;
    case "elsewhere":
      return "another tab trains";
    case "no-files":
    case "failed":
      return phase.error.message;
    case "no-gpu":
      return gpuProblems[phase.problem];
    case "lost":
      return `the graphics processor was lost: ${phase.message}`;
    default:
      return phase satisfies never;
  }
}
