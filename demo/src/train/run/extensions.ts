import type { Checkpoint, HostArray, Saveable } from "orbax-webgpu";
import { type LabelledImages, noImages, pixelsAnImage } from "../data/images.js";
import { emptyHistory, type History } from "./history.js";

/** What the page keeps in the item `extensions`, beside what Python saved: somebody's drawings, and the curves. */
export interface Extensions {
  readonly drawn: LabelledImages;
  readonly history: History;
}

/** The item to save; Orbax takes no arrays without elements, so what is empty is `None`. */
export const extensionsItem = ({ drawn, history: { start, losses, tests } }: Extensions): Saveable => ({
  drawings:
    drawn.count === 0
      ? null
      : { pixels: { shape: [drawn.count, pixelsAnImage], dtype: "uint8", data: drawn.pixels }, labels: drawn.labels },
  start,
  losses: losses.length === 0 ? null : Float32Array.from(losses),
  tests:
    tests.length === 0
      ? null
      : {
          steps: Int32Array.from(tests, ({ step }) => step),
          losses: Float64Array.from(tests, ({ loss }) => loss),
          accuracies: Float64Array.from(tests, ({ accuracy }) => accuracy),
        },
});

/** What a step has of them; a step that Python saved has none. */
export function readExtensions(checkpoint: Pick<Checkpoint<unknown>, "leaf" | "step">): Extensions {
  const start = checkpoint.leaf("extensions", "start");
  if (typeof start !== "number") return { drawn: noImages, history: emptyHistory(checkpoint.step) };
  const numbers = (path: string) => Array.from((checkpoint.leaf("extensions", path) as HostArray<"float64"> | undefined)?.data ?? []);
  const labels = numbers("drawings/labels");
  const [losses, accuracies] = [numbers("tests/losses"), numbers("tests/accuracies")];
  const tests = numbers("tests/steps").map((step, index) => ({ step, loss: losses[index] ?? 0, accuracy: accuracies[index] ?? 0 }));
  return {
    drawn: { count: labels.length, labels: Uint8Array.from(labels), pixels: Uint8Array.from(numbers("drawings/pixels")) },
    history: { start, losses: numbers("losses"), tests },
  };
}
