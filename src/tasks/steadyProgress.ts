import type { ProgressEvent, TaskContext } from "./context.js";

/** The same listener, for work that may begin anew: bytes that were loaded stay loaded. */
export function steadyProgress(onProgress: TaskContext["onProgress"]): TaskContext["onProgress"] {
  let most = 0;
  return (
    onProgress &&
    ((event: ProgressEvent) => {
      most = Math.max(most, event.loadedBytes);
      onProgress({ ...event, loadedBytes: Math.min(most, event.totalBytes) });
    })
  );
}
