import { isAbsentFile } from "../storage/streamRange.js";
import type { TaskContext } from "../tasks/context.js";
import { unlessChanged } from "./unlessChanged.js";

/** Reads on by what was opened; what `read` gives has to be of one version. */
export type ReadOn<Reading> = <Value>(read: (reading: Reading) => Promise<Value>, context: TaskContext) => Promise<Value>;

/**
 * Reads on by `first`, and where a file changed since, once more by what is opened anew, which later calls go on with. What was replaced mostly lacks
 * the files of before, whose names are random: where one is absent, it is opened anew as well, and read where that is something else.
 * @param reopen opens anew; without it a changed file is an error at once.
 * @param textOf all that is known of what was opened; without it an absent file is an error at once.
 */
export function readOn<Reading>(
  first: Reading,
  reopen?: (context: TaskContext) => Promise<Reading>,
  textOf?: (reading: Reading) => string,
): ReadOn<Reading> {
  let newest = first;
  return (read, { signal }) => {
    if (reopen === undefined) return read(newest);
    const anew = async () => {
      newest = await reopen({ signal });
      return read(newest);
    };
    const unlessReplaced = async () => {
      const before = newest;
      try {
        return await read(before);
      } catch (error) {
        if (textOf === undefined || !isAbsentFile(error)) throw error;
        const now = await reopen({ signal });
        if (textOf(now) === textOf(before)) throw error;
        newest = now;
        return read(now);
      }
    };
    return unlessChanged(unlessReplaced, anew);
  };
}
