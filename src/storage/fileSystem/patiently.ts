import type { TaskContext } from "../../tasks/context.js";
import { systemClock } from "../http/retry.js";
import { changeFailure, nameOf } from "./failures.js";

/** Milliseconds between the tries: a worker that reads a file has it open for as long as one of its jobs takes. */
const waits = [10, 20, 40, 80, 160, 320, 640, 1280];

/**
 * Tries again for a while what is refused because somebody has a file open.
 * @throws StorageError, `"busy"` where they still have; the signal's reason on abort.
 */
export async function patiently<Value>(path: string, change: () => Promise<Value>, { signal }: TaskContext): Promise<Value> {
  for (const wait of [...waits, undefined]) {
    signal?.throwIfAborted();
    try {
      return await change();
    } catch (cause) {
      if (wait === undefined || nameOf(cause) !== "NoModificationAllowedError") throw await changeFailure(path, cause);
      await systemClock.sleep(wait, signal);
    }
  }
  throw new Error("unreachable: the last try returns or throws");
}
