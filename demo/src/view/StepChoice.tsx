import type { Session } from "../session/useSession.js";

/** The choice among the checkpoint's steps. */
export function StepChoice({ steps, step, choose }: Pick<Session, "steps" | "step" | "choose">) {
  return (
    <fieldset class="steps">
      <legend>Training step</legend>
      {steps.map((one) => (
        <label key={one}>
          <input type="radio" name="step" value={one} checked={one === step} onChange={() => choose(one)} />
          <span class="step">{one}</span>
        </label>
      ))}
    </fieldset>
  );
}
