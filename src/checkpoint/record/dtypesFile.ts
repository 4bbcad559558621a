import { longestJson, parseJson } from "../../bytes/json.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { RecordedDtypes } from "./recordedDtypes.js";

/**
 * Asks for a step's `dtypes` item. What it gives throws where that failed, or what was read is malformed: only then, since a restore that
 * casts does without it.
 * @param folder the step's.
 */
export async function readDtypesFile(
  root: ReadableStorage,
  folder: string,
  { signal }: TaskContext,
): Promise<() => RecordedDtypes | undefined> {
  const path = pathIn(folder, "dtypes/metadata");
  const [file, { parseRecordedDtypes }] = await Promise.all([
    settled(root.read(path, { longest: longestJson, signal })),
    import("./recordedDtypes.js"),
  ]);
  return () => {
    const bytes = file();
    return bytes && parseRecordedDtypes(parseJson(bytes, path));
  };
}

/** The outcome of a promise as a function that returns or throws it, so that a failure counts only where it matters. */
const settled = <Value>(promise: Promise<Value>): Promise<() => Value> =>
  promise.then(
    (value) => () => value,
    (error) => () => {
      throw error;
    },
  );
