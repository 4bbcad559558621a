import { useRef, useState } from "preact/hooks";
import { bundledStep } from "../../session/bundled.js";
import { grouped, percent } from "../../view/numbers.js";
import { emptyHistory } from "../run/history.js";
import type { Training } from "../session/useTraining.js";
import { Curves } from "./Curves.js";
import { Obstacle } from "./Obstacle.js";
import { PlanChoice, type PlanNames, planOf, RateChoice } from "./PlanChoice.js";
import { statusOf } from "./statusOf.js";
import { TroubleNotice } from "./TroubleNotice.js";

/** The training itself: how long, how it goes, and what is in its way. */
export function TrainCard({ training }: { readonly training: Training }) {
  const { phase, activity, run, session } = training;
  const [plan, setPlan] = useState<PlanNames>({ steps: "100", every: "25" });
  const card = useRef<HTMLElement>(null);
  const keepFocus = () => card.current?.focus({ preventScroll: true }); // the button that was pressed goes away
  const isTraining = activity === "training" || activity === "saving";
  const press = () => (isTraining ? session?.pause() : void session?.train(planOf(plan)));
  return (
    <section id="train" class="card" aria-labelledby="train-title" ref={card} tabIndex={-1}>
      <div class="strip">
        <h2 id="train-title">Train</h2>
        {phase.kind !== "ready" && phase.kind !== "opening" ? null : (
          <div class="plan">
            <PlanChoice plan={plan} choose={setPlan} disabled={isTraining} />
            <RateChoice rate={run?.learningRate} choose={(rate) => session?.setLearningRate(rate)} disabled={isTraining} />
            <button
              type="button"
              class="primary"
              onClick={press}
              disabled={phase.kind === "opening" || (activity !== "idle" && !isTraining)}
            >
              {isTraining ? "Pause" : "Train"}
            </button>
          </div>
        )}
        <p class="status" role="status">
          {statusOf(training)}
        </p>
      </div>
      <Obstacle training={training} keepFocus={keepFocus} />
      <TroubleNotice training={training} belongs={(during) => during === "training"} keepFocus={keepFocus} />
      {isRunShown(phase) ? <Curves history={run?.history ?? emptyHistory(bundledStep)} /> : null}
      <RunFacts training={training} />
    </section>
  );
}

/** Whether there is a run to see, or there will be one soon. */
const isRunShown = (phase: Training["phase"]) =>
  phase.kind === "opening" || phase.kind === "ready" || (phase.kind === "elsewhere" && phase.watching);

/** Where the run stands, in numbers. */
function RunFacts({ training: { phase, run } }: { readonly training: Training }) {
  const shown = isRunShown(phase) ? run : undefined;
  const test = shown?.history.tests.at(-1);
  const loss = shown?.history.losses.at(-1);
  return (
    <dl class="facts">
      <Fact term="Step" value={shown && grouped(shown.step)} detail={shown && `epoch ${grouped(shown.epoch)}`} />
      <Fact term="Loss of the last batch" value={loss?.toFixed(4)} detail={loss === undefined ? undefined : "128 images"} />
      <Fact term="Test images read rightly" value={test && percent(test.accuracy)} detail={test && `loss ${test.loss.toFixed(4)}`} />
      <Fact term="Learned from" value={shown && grouped(shown.bundled + shown.drawn.count)} detail={shown && drawings(shown.drawn.count)} />
    </dl>
  );
}

const drawings = (count: number) => (count === 1 ? "images, 1 of them yours" : `images, ${count} of them yours`);

interface FactProps {
  readonly term: string;
  readonly value: string | undefined;
  readonly detail: string | undefined;
}

const Fact = ({ term, value, detail }: FactProps) => (
  <div>
    <dt>{term}</dt>
    <dd>{value ?? "–"}</dd>
    <dd class="detail">{detail ?? "\u00a0"}</dd>
  </div>
);
