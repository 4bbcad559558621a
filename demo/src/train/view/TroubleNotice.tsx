import { isCheckpointError } from "orbax-webgpu";
import { Notice } from "../../view/Notice.js";
import type { Activity } from "../session/trainState.js";
import type { Training } from "../session/useTraining.js";

const titles: Readonly<Record<Activity, string>> = {
  idle: "",
  training: "The training stopped",
  saving: "The step was not saved",
  restoring: "The step was not restored",
  deleting: "The step was not deleted",
  exporting: "The steps were not packed",
  importing: "No steps were added",
};

interface TroubleNoticeProps {
  readonly training: Training;
  /** Whether what went wrong belongs where the notice stands. */
  belongs(during: Activity): boolean;
  keepFocus(): void;
}

/** What went wrong, where it did, and what to do about it. */
export function TroubleNotice({ training, belongs, keepFocus }: TroubleNoticeProps) {
  const { trouble, session, phase } = training;
  if (trouble === undefined || !belongs(trouble.during)) return null;
  if (phase.kind !== "ready" && phase.kind !== "failed") return null; // the obstacle says it
  const isSave = trouble.during === "saving";
  const act = () => {
    keepFocus();
    if (isSave) void session?.save();
    else session?.forgive();
  };
  return (
    <Notice title={titles[trouble.during]} action={isSave ? "Save again" : "Close"} onAction={act}>
      {causesOf(trouble.error).map((error) => (
        <p key={error.message} class="message">
          <code>{error.name}</code> {error.message}
        </p>
      ))}
      {trouble.during === "importing" && isCheckpointError(trouble.error, "NotWritten") && trouble.error.reason === "exists" ? (
        <p>Step {trouble.error.step} is there already: delete it below, then add the ZIP again.</p>
      ) : null}
      {isFull(trouble.error) ? <p>The browser has no room left for this page: delete steps below, then save again.</p> : null}
    </Notice>
  );
}

/** The error, and what is behind a refusal. */
const causesOf = (error: Error): Error[] =>
  isCheckpointError(error, "NotWritten") && error.cause instanceof Error ? [error, error.cause] : [error];

const isFull = (error: Error): boolean => causesOf(error).some((one) => isCheckpointError(one, "Storage") && one.reason === "quota");
