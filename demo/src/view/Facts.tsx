import type { ComponentChildren } from "preact";
import type { Evaluation } from "../digits/evaluate.js";
import type { Session } from "../session/useSession.js";
import { KeptFact } from "./KeptFact.js";
import { grouped } from "./numbers.js";

/** What the restore took, and whether the weights answer as Flax does. */
export function Facts({ phase, check, opened, retry, kept, removeKept }: Session) {
  const restored = phase.kind === "ready" ? phase.restored : undefined;
  const onGpu = restored?.leaves.filter(({ place }) => place === "GPU");
  return (
    <dl class="facts">
      <Fact term="Test images, on this GPU">
        <CheckFact check={check} retry={retry} />
      </Fact>
      <Fact term="In the checkpoint">
        <Count value={opened?.leaves.length} unit="leaves" />
        <Detail>{onGpu && `${onGpu.length} arrays, each its own GPUBuffer`}</Detail>
      </Fact>
      <Fact term="Over HTTP">
        <Count value={restored?.traffic.requests} unit="requests" />
        <Detail>{restored && `${grouped(restored.traffic.bytes)} bytes, index included`}</Detail>
      </Fact>
      <Fact term="Restored">
        <Count value={restored?.totalBytes} unit="bytes" />
        <Detail>{onGpu && `${grouped(onGpu.reduce((sum, { bytes }) => sum + bytes, 0))} of them on the GPU`}</Detail>
      </Fact>
      <KeptFact kept={kept} removeKept={removeKept} />
    </dl>
  );
}

function CheckFact({ check, retry }: Pick<Session, "check" | "retry">) {
  if (check.kind === "failed") {
    return (
      <dd class="detail">
        <span role="alert">{check.error.message}</span>{" "}
        <button type="button" onClick={retry}>
          Try again
        </button>
      </dd>
    );
  }
  const evaluation = check.kind === "done" ? check.evaluation : undefined;
  return (
    <>
      <dd data-testid="correct">
        {evaluation ? (
          <>
            {evaluation.correct} of {evaluation.total} <small>correct</small>
          </>
        ) : (
          "–"
        )}
      </dd>
      <Detail>{evaluation?.flax && `Flax: ${evaluation.flax.correct} of ${evaluation.total}${sameAnswers(evaluation)}`}</Detail>
    </>
  );
}

/** Whether not only the number but each answer is Flax's. */
function sameAnswers({ predictions, flax }: Evaluation): string {
  return predictions.every((digit, index) => digit === flax?.predictions[index]) ? ", each answer the same" : "";
}

const Fact = ({ term, children }: { readonly term: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{term}</dt>
    {children}
  </div>
);

const Count = ({ value, unit }: { readonly value: number | undefined; readonly unit: string }) => (
  <dd>
    {value === undefined ? "–" : grouped(value)} <small>{unit}</small>
  </dd>
);

const Detail = ({ children }: { readonly children: ComponentChildren }) => <dd class="detail">{children || "\u00a0"}</dd>;
