import type { CheckpointMetadata } from "orbax-webgpu";
import { bundledStep } from "../../session/bundled.js";
import { grouped, percent } from "../../view/numbers.js";
import type { Origin } from "../session/savedPlace.js";
import type { SavedStep, SavedSteps } from "../session/savedSteps.js";
import type { Training } from "../session/useTraining.js";
import { bytesText } from "./bytesText.js";
import { StepActions } from "./StepActions.js";

interface StepTableProps {
  readonly training: Training;
  readonly saved: SavedSteps;
  keepFocus(): void;
}

/** The steps, newest first, and what can be done with them; last the one that Python saved. */
export function StepTable({ training, saved, keepFocus }: StepTableProps) {
  const { phase } = training;
  const canAct = phase.kind === "ready" || (phase.kind === "failed" && phase.canRestore);
  const actions = (origin: Origin) =>
    canAct ? (
      <td>
        <StepActions training={training} origin={origin} keepFocus={keepFocus} />
      </td>
    ) : null;
  return (
    <table class="steps-table">
      <caption class="hidden">Saved steps, the newest first</caption>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col" class="wide">
            Saved
          </th>
          <th scope="col" class="wide">
            Test loss
          </th>
          <th scope="col">Read rightly</th>
          <th scope="col">Size</th>
          {canAct ? <th scope="col">Actions</th> : null}
        </tr>
      </thead>
      <tbody>
        {saved.steps.map((step) => (
          <tr key={step.step}>
            <StepCells step={step} saved={saved} />
            {actions(step.step)}
          </tr>
        ))}
        <tr>
          <th scope="row">{grouped(bundledStep)}</th>
          <td colSpan={4}>by Flax and Optax in Python; it comes with the page{training.worksOffline ? ", which works offline now" : ""}</td>
          {actions("python")}
        </tr>
      </tbody>
    </table>
  );
}

function StepCells({ step: { step, metadata, bytes }, saved }: { readonly step: SavedStep; readonly saved: SavedSteps }) {
  return (
    <>
      <th scope="row">
        {grouped(step)} {step === saved.latest ? <span class="mark latest">latest</span> : null}{" "}
        {step === saved.best ? <span class="mark best">best</span> : null}
      </th>
      <td class="wide">{metadata === undefined ? "cannot be read" : timeOf(metadata)}</td>
      <td class="wide">{metric(metadata, "test_loss")?.toFixed(4) ?? "–"}</td>
      <td>{shareOf(metric(metadata, "accuracy"))}</td>
      <td>{bytesText(bytes)}</td>
    </>
  );
}

const metric = (metadata: CheckpointMetadata | undefined, name: string) => metadata?.metrics[name];

const shareOf = (share: number | undefined) => (share === undefined ? "–" : percent(share));

const timeOf = ({ createdAt }: CheckpointMetadata) => new Date(createdAt).toLocaleTimeString("en-GB");
