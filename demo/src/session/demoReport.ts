import type { DemoReport } from "../../report.mjs";
import { gpuProblems } from "./requestGpu.js";
import type { SessionState } from "./sessionState.js";

declare global {
  interface Window {
    /** How the page ended, for `npm run demo -- --headless`; undefined while it works. */
    orbaxDemoReport?: DemoReport | undefined;
  }
}

const shownSamples = 10;

/** What the page has come to; undefined while it still works. */
export function demoReport({ phase, check, tests }: SessionState): DemoReport | undefined {
  switch (phase.kind) {
    case "opening":
    case "restoring":
      return undefined;
    case "no-gpu":
      return { status: "error", message: gpuProblems[phase.problem] };
    case "lost":
      return { status: "error", message: `the graphics processor was lost: ${phase.message}` };
    case "failed":
      return { status: "error", message: phase.error.message };
    case "ready":
      break;
    default:
      return phase satisfies never;
  }
  if (check.kind === "waiting") return undefined;
  if (check.kind === "failed") return { status: "error", message: check.error.message };
  const { correct, total, predictions } = check.evaluation;
  return {
    status: "done",
    leaves: phase.restored.leaves.map(({ path, dtype, shape, bytes, first }) => ({
      path,
      dtype: dtype ?? "str",
      shape: shape ?? [],
      bytes,
      first,
    })),
    predictions: { correct, total, samples: samplesOf(tests?.labels ?? [], predictions) },
  };
}

const samplesOf = (labels: readonly number[], predictions: readonly number[]) =>
  labels.slice(0, shownSamples).map((label, index) => ({ label, predicted: predictions[index] ?? -1 }));
