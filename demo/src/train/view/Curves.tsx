import { useMemo } from "preact/hooks";
import { percent } from "../../view/numbers.js";
import type { History } from "../run/history.js";
import { type Line, Plot } from "./Plot.js";

/** Loss and accuracy by step. */
export function Curves({ history }: { readonly history: History }) {
  const loss = useMemo(() => lossLines(history), [history]);
  const accuracy = useMemo(() => accuracyLines(history), [history]);
  return (
    <div class="curves">
      <figure>
        <figcaption>
          Loss <Key name="batches" /> <Key name="tests" />
        </figcaption>
        <Plot steps={loss.steps} lines={loss.lines} label={loss.label} format={(value) => value.toFixed(2)} from={0} />
      </figure>
      <figure>
        <figcaption>Test images read rightly</figcaption>
        <Plot steps={accuracy.steps} lines={accuracy.lines} label={accuracy.label} format={(value) => `${value.toFixed(1)}%`} />
      </figure>
    </div>
  );
}

const names = { batches: "each batch", tests: "test images" } as const;

const Key = ({ name }: { readonly name: keyof typeof names }) => <span class={`key ${name}`}>{names[name]}</span>;

interface Lines {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  /** What a screen reader hears of the plot. */
  readonly label: string;
}

function lossLines({ start, losses, tests }: History): Lines {
  const steps = [start, ...losses.map((_, index) => start + index + 1)];
  const byStep = new Map(tests.map(({ step, loss }) => [step, loss]));
  return {
    steps,
    lines: [
      { colour: "--edge", values: [null, ...losses], points: false },
      { colour: "--accent", values: steps.map((step) => byStep.get(step) ?? null), points: true },
    ],
    label: `Loss of ${losses.length} steps after step ${start}; ${lastOf("of the last batch", losses)}, ${lastOf(
      "on the test images",
      tests.map(({ loss }) => loss),
    )}`,
  };
}

const lastOf = (what: string, losses: readonly number[]) => `${losses.at(-1)?.toFixed(4) ?? "unknown"} ${what}`;

function accuracyLines({ tests }: History): Lines {
  const last = tests.at(-1);
  return {
    steps: tests.map(({ step }) => step),
    lines: [{ colour: "--accent", values: tests.map(({ accuracy }) => accuracy * 100), points: true }],
    label: `Share of the test images that were read rightly${last === undefined ? "" : `; ${percent(last.accuracy)} at step ${last.step}`}`,
  };
}
