import type { KeptOnDevice } from "../session/keptOnDevice.js";
import type { Session } from "../session/useSession.js";
import { grouped } from "./numbers.js";

/** What is kept on this device, whether that is enough without a network, and the way to be rid of it. */
export function KeptFact({ kept, removeKept }: Pick<Session, "kept" | "removeKept">) {
  const isKept = kept !== undefined && kept.state.kind !== "not-kept";
  return (
    <div>
      <dt>On this device</dt>
      <dd>
        {isKept ? grouped(kept.bytes) : "–"} <small>bytes</small>
      </dd>
      <dd class="detail kept">
        <span>{kept === undefined ? "\u00a0" : textOf(kept.state)}</span>
        {isKept && (
          <button type="button" onClick={removeKept}>
            Remove
          </button>
        )}
      </dd>
    </div>
  );
}

function textOf(state: KeptOnDevice["state"]): string {
  switch (state.kind) {
    case "keeping":
      return "The checkpoint is kept";
    case "works-offline":
      return "Works offline now";
    case "checkpoint-only":
      return "The checkpoint is kept, the page is not";
    case "offline":
      return "No network: restored from here";
    case "not-kept":
      return `Not kept: ${state.problem.message}`;
    default:
      return state satisfies never;
  }
}
