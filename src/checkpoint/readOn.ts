import type { TaskContext } from "../tasks/context.js";
import { unlessChanged } from "./unlessChanged.js";

/** Reads on by what was opened; what `read` gives has to be of one version. */
export type ReadOn<Reading> = <Value>(read: (reading: Reading) => Promise<Value>, context: TaskContext) => Promise<Value>;

/**
 * Reads on by `first`, and where a file changed since, once more by what is opened anew, which later calls go on with.
 * @param reopen opens anew; without it a changed file is an error at once.
 */
export function readOn<Reading>(first: Reading, reopen?: (context: TaskContext) => Promise<Reading>): ReadOn<Reading> {
  let newest = first;
  return (read, { signal }) => {
    if (reopen === undefined) return read(newest);
    const anew = async () => {
      newest = await reopen({ signal });
      return read(newest);
    };
    return unlessChanged(() => read(newest), anew);
  };
}
