import { useRef } from "preact/hooks";
import { maxToKeep } from "../session/savedPlace.js";
import type { Training } from "../session/useTraining.js";
import { bytesText } from "./bytesText.js";
import { StepTable } from "./StepTable.js";
import { TakeHome } from "./TakeHome.js";
import { TroubleNotice } from "./TroubleNotice.js";

/** The steps in the browser's own files, and the room that they take. */
export function SavedSteps({ training }: { readonly training: Training }) {
  const { phase, activity, run, saved, session, inMemory } = training;
  const card = useRef<HTMLElement>(null);
  const keepFocus = () => card.current?.focus({ preventScroll: true }); // the button that was pressed goes away
  if (saved === undefined || (phase.kind === "elsewhere" && !phase.watching)) return null;
  const canSave = phase.kind === "ready" && activity === "idle" && run?.unsaved === true;
  return (
    <section class="card" aria-labelledby="saved-title" ref={card} tabIndex={-1}>
      <div class="strip">
        <h2 id="saved-title">Saved steps</h2>
        {phase.kind !== "ready" ? null : (
          <button type="button" class="save" disabled={!canSave} onClick={() => void session?.save()}>
            {canSave ? `Save step ${run.step} now` : "Save now"}
          </button>
        )}
        <p class="status">{roomText(training)}</p>
      </div>
      <TroubleNotice training={training} belongs={(during) => during !== "training"} keepFocus={keepFocus} />
      <div class="saved">
        <StepTable training={training} saved={saved} keepFocus={keepFocus} />
        {phase.kind === "ready" ? <TakeHome training={training} saved={saved} /> : null}
        <p class="quiet">
          The newest {maxToKeep} stay; the best has the lowest loss on the test images.{" "}
          {inMemory
            ? "They stand in memory, and go when the page is closed."
            : "They stand in the browser’s files for this page (OPFS), as substrax and Orbax lay them out in Python."}{" "}
          Weights, moments, random key, data order, your drawings and the curves are all in them: whoever goes on from one gets the same
          losses, to the last bit.
        </p>
      </div>
    </section>
  );
}

function roomText({ saved, inMemory }: Training): string {
  const bytes = saved?.steps.reduce((sum, step) => sum + step.bytes, 0) ?? 0;
  const steps = `${bytesText(bytes)} in steps`;
  if (inMemory || saved?.usage === undefined) return steps;
  const free = saved.free === undefined ? "" : `, ${bytesText(saved.free)} free`;
  return `${steps}, ${bytesText(saved.usage)} used${free}`;
}
