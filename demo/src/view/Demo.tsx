import { useMemo, useRef, useState } from "preact/hooks";
import { usePrediction } from "../digits/usePrediction.js";
import { digitImage } from "../drawing/digitImage.js";
import type { Stroke } from "../drawing/strokes.js";
import type { Session } from "../session/useSession.js";
import { Answer } from "./Answer.js";
import { DrawingTools } from "./DrawingTools.js";
import { Facts } from "./Facts.js";
import { NetworkInput } from "./NetworkInput.js";
import { ErrorNotice, NoGpuNotice, Notice } from "./Notice.js";
import { RestoreProgress } from "./RestoreProgress.js";
import { StepChoice } from "./StepChoice.js";

/** What is classified: a drawing, or one of the test images by its index. */
type Shown = { readonly kind: "drawing"; readonly strokes: readonly Stroke[] } | { readonly kind: "test"; readonly index: number };

/** The demo itself: restores the network, takes a digit and says which it is. */
export function Demo({ session }: { readonly session: Session }) {
  const { phase, tests } = session;
  const [shown, setShown] = useState<Shown>({ kind: "drawing", strokes: [] });
  const strokes = shown.kind === "drawing" ? shown.strokes : [];
  const chosen = shown.kind === "test" ? shown.index : undefined;
  const drawn = useMemo(() => digitImage(strokes), [shown]);
  const image = chosen === undefined ? drawn : tests?.images[chosen];
  const answer = usePrediction(phase.kind === "ready" ? phase.restored.classifier : undefined, image);

  const card = useRef<HTMLElement>(null);
  const retry = () => {
    card.current?.focus({ preventScroll: true }); // the button that was pressed goes away
    session.retry();
  };
  const draw = (change: (strokes: readonly Stroke[]) => readonly Stroke[]) =>
    setShown((before) => ({ kind: "drawing", strokes: change(before.kind === "drawing" ? before.strokes : []) }));

  return (
    <section id="demo" class="card" aria-labelledby="demo-title" ref={card} tabIndex={-1}>
      <div class="strip">
        <h2 id="demo-title">Draw a digit</h2>
        <StepChoice {...session} />
        <RestoreProgress phase={phase} />
      </div>
      <Trouble phase={phase} retry={retry} />
      {phase.kind === "no-gpu" ? null : (
        <div class="bench">
          <DrawingTools strokes={strokes} image={chosen === undefined ? undefined : image} draw={draw} />
          <Answer probabilities={answer} otherwise={phase.kind === "ready" ? `Step ${session.step} is restored. Draw a digit.` : ""} />
          <NetworkInput image={image} tests={tests} chosen={chosen} choose={(index) => setShown({ kind: "test", index })} />
        </div>
      )}
      <Facts {...session} retry={retry} />
    </section>
  );
}

/** What stops the demo, if anything does. */
function Trouble({ phase, retry }: Pick<Session, "phase" | "retry">) {
  switch (phase.kind) {
    case "no-gpu":
      return <NoGpuNotice problem={phase.problem} onRetry={retry} />;
    case "failed":
      return <ErrorNotice title="The checkpoint could not be restored" error={phase.error} onRetry={retry} />;
    case "lost":
      return (
        <Notice title="The graphics processor went away" action="Restore again" onAction={retry}>
          <p class="message">The browser lost its connection to it, and the weights with it. It says: {phase.message}</p>
        </Notice>
      );
    default:
      return null;
  }
}
