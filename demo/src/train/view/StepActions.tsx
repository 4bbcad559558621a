import type { Origin } from "../session/savedPlace.js";
import type { Training } from "../session/useTraining.js";
import { AskingButton } from "./AskingButton.js";

interface StepActionsProps {
  readonly training: Training;
  readonly origin: Origin;
  keepFocus(): void;
}

/** What can be done with a step: restored, and deleted where it is not Python's. */
export function StepActions({ training: { session, run, activity }, origin, keepFocus }: StepActionsProps) {
  const disabled = activity !== "idle";
  const name = origin === "python" ? "Python’s step" : `step ${origin}`;
  const then = (work: () => unknown) => () => {
    keepFocus(); // the button that was pressed goes away
    work();
  };
  return (
    <div class="actions">
      <AskingButton
        text="Restore"
        name={`Restore ${name}`}
        disabled={disabled}
        asks={run?.unsaved === true}
        yes={{ text: `Lose step ${run?.step}`, name: `Restore ${name}, and lose step ${run?.step}` }}
        no={`Keep step ${run?.step}, which is not saved`}
        act={then(() => session?.restore(origin))}
      />
      {origin === "python" ? null : (
        <AskingButton
          text="Delete"
          name={`Delete ${name}`}
          disabled={disabled}
          asks
          yes={{ text: "Really delete", name: `Delete ${name} for good` }}
          no={`Keep ${name}`}
          act={then(() => session?.delete(origin))}
        />
      )}
    </div>
  );
}
