import type { TaskContext } from "../../tasks/context.js";

/** How a lock is asked for. */
export interface LockRequest extends Pick<TaskContext, "signal"> {
  /** Any number may share a lock; who has it exclusively is alone. */
  readonly mode: "shared" | "exclusive";
  /** False: give up at once where others hold it. */
  readonly wait: boolean;
}

/** Locks of one directory, by name, among all that may use it at once. Who ends frees what it held. */
export interface DirectoryLocks {
  /**
   * Runs `work` while the lock is held; those who wait get it in the order they came.
   * @returns undefined where others hold it and the request does not wait. Throws what `work` throws, and the signal's reason on abort.
   */
  hold<Value>(name: string, request: LockRequest, work: () => Promise<Value>): Promise<{ readonly value: Value } | undefined>;
}
