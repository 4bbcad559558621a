import { ErrorNotice, NoGpuNotice, Notice } from "../../view/Notice.js";
import type { Training } from "../session/useTraining.js";

/** What is in the training's way, if anything is, and what to do about it. */
export function Obstacle({ training, keepFocus }: { readonly training: Training; keepFocus(): void }) {
  const { phase, session } = training;
  const doing = (work: () => unknown) => () => {
    keepFocus();
    work();
  };
  const retry = doing(training.retry);
  switch (phase.kind) {
    case "elsewhere":
      if (phase.watching) return <Watching />;
      return (
        <Notice title="Another tab is training" action="Watch it" onAction={doing(() => session?.watch())}>
          <p>
            Only one tab at a time can, as both would save the same steps. This one goes on from the latest step when the other is closed.
          </p>
        </Notice>
      );
    case "no-files":
      return (
        <Notice title="This page has no place to save steps" action="Train in memory" onAction={doing(() => session?.useMemory())}>
          <p class="message">
            <code>{phase.error.name}</code> {phase.error.message}
          </p>
          <p>Without it you can train all the same; the steps are lost when the page is closed.</p>
        </Notice>
      );
    case "no-gpu":
      return <NoGpuNotice problem={phase.problem} onRetry={retry} />;
    case "lost":
      return (
        <Notice title="The graphics processor went away" action="Go on from the latest saved step" onAction={retry}>
          <p class="message">The browser lost its connection to it, and the weights with it. It says: {phase.message}</p>
        </Notice>
      );
    case "failed":
      return <ErrorNotice title="The training could not be opened" error={phase.error} onRetry={retry} />;
    case "opening":
    case "ready":
      return null;
    default:
      return phase satisfies never;
  }
}

const Watching = () => (
  <p class="quiet watching">
    You see what another tab of this browser trains. This one goes on from the latest step when the other is closed.
  </p>
);
