import type { Session } from "../session/useSession.js";
import { grouped } from "./numbers.js";

/** How far the restore is, in bytes; afterwards, what it took. */
export function RestoreProgress({ phase }: Pick<Session, "phase">) {
  const { label, loaded, total } = progressOf(phase);
  return (
    <div class="progress">
      <label for="restored-bytes">{label}</label>
      <span class="bytes">{total === undefined ? "" : `${grouped(loaded)} of ${grouped(total)} bytes`}</span>
      {total === undefined ? (
        <progress id="restored-bytes" {...(phase.kind === "opening" ? {} : { value: 0 })} />
      ) : (
        <progress id="restored-bytes" value={loaded} max={Math.max(total, 1)} />
      )}
    </div>
  );
}

function progressOf(phase: Session["phase"]): { label: string; loaded: number; total?: number } {
  switch (phase.kind) {
    case "opening":
      return { label: "Reading the index…", loaded: 0 };
    case "restoring":
      if (phase.progress === undefined) return { label: "Restoring…", loaded: 0 };
      return { label: "Restoring onto the GPU…", loaded: phase.progress.loadedBytes, total: phase.progress.totalBytes };
    case "ready": {
      const { totalBytes, milliseconds } = phase.restored;
      return { label: `Restored in ${grouped(Math.max(1, Math.round(milliseconds)))} ms`, loaded: totalBytes, total: totalBytes };
    }
    case "no-gpu":
      return { label: "No GPU to restore onto", loaded: 0 };
    case "lost":
    case "failed":
      return { label: "Not restored", loaded: 0 };
    default:
      return phase satisfies never;
  }
}
