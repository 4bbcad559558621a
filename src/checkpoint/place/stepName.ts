/** A step, and the name of the folder, or of flax's file, that holds it. */
export interface NamedStep {
  readonly step: number;
  readonly name: string;
}

/** What the names of unfinished saves contain: in every version, and those that API v1 makes in parts. */
const temporaryMark = /\.(?:orbax-checkpoint-tmp|partial_save)/;

/** Whether a name is that of a save that did not end; also of items within a step. */
export const isTemporary = (name: string): boolean => temporaryMark.test(name);

/** The name that an unfinished save would have got. */
export const finalName = (name: string): string => name.slice(0, name.search(temporaryMark));

/**
 * The step that a name stands for, whatever a manager's prefix and padding: digits alone, or those behind the last underscore. Undefined for
 * any other name, and for steps beyond 2^53 − 1.
 */
export function stepOfName(name: string): number | undefined {
  if (isTemporary(name) || isProcess(name)) return undefined;
  const digits = /^(?:.*_)?([0-9]+)$/s.exec(name)?.[1];
  const step = digits === undefined ? Number.NaN : Number(digits);
  return Number.isSafeInteger(step) ? step : undefined;
}

/** The step of a file that flax's own checkpoints are: `checkpoint_100`. */
export const stepOfFile = (name: string): number | undefined => (name.startsWith("checkpoint_") ? stepOfName(name) : undefined);

/** Files that may be flax's under a prefix of the user's own: `model_100`. */
export const stateFileNames = (files: Iterable<string>): NamedStep[] =>
  [...files]
    .flatMap((name) => {
      const step = /^[^.]+_[0-9]+$/s.test(name) ? stepOfName(name) : undefined;
      return step === undefined ? [] : [{ step, name }];
    })
    .sort((a, b) => a.step - b.step);

/** Whether a folder's name is that of the database of one process: `ocdbt.process_0`. */
export const isProcess = (name: string): boolean => name.startsWith("ocdbt.process_");

/** The steps among the names in a root, ascending. */
export function namedSteps({
  directories,
  files,
}: {
  readonly directories: Iterable<string>;
  readonly files: Iterable<string>;
}): NamedStep[] {
  const named = (names: Iterable<string>, stepOf: (name: string) => number | undefined) =>
    [...names].flatMap((name) => {
      const step = stepOf(name);
      return step === undefined ? [] : [{ step, name }];
    });
  return [...named(directories, stepOfName), ...named(files, stepOfFile)].sort((a, b) => a.step - b.step);
}
