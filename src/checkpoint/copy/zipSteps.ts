import { requireOptions } from "../../arguments.js";
import { streamRange } from "../../storage/streamRange.js";
import type { TaskContext } from "../../tasks/context.js";
import { type CheckpointDirectory, directoryName, requireDirectory } from "../directory.js";
import { openDirectory } from "../openDirectory.js";
import { RestoreProgress } from "../restore/restoreProgress.js";
import { copiedRules, type StepFile, type StepFiles, stepFiles, totalBytes, totalFiles } from "./stepFiles.js";

/** Options of {@link zipSteps}. */
export interface ZipStepsOptions extends TaskContext {
  /** Which steps; all of them by default. */
  readonly steps?: readonly number[] | undefined;
}

/**
 * Finished steps as a ZIP, made while it is read: memory holds a few pieces of one file, whatever the steps' sizes. Each step is a folder of
 * its number, so that `unzip` makes a directory of it that substrax and Orbax open. Files are stored, since arrays are compressed already or
 * would not become shorter; a ZIP beyond 4 GiB is a ZIP64. The stream fails with CheckpointNotFoundError where a step is not there or was
 * replaced meanwhile, and with StorageError where the place fails.
 */
export function zipSteps(directory: CheckpointDirectory, options: ZipStepsOptions = {}): ReadableStream<Uint8Array> {
  requireDirectory(directory);
  requireOptions("zipSteps", options, copiedRules);
  const stopped = new AbortController();
  const signal = options.signal === undefined ? stopped.signal : AbortSignal.any([options.signal, stopped.signal]);
  const context = { ...options, signal };
  let zip: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return new ReadableStream({
    async pull(controller) {
      zip ??= (await begun(directory, options.steps, context)).getReader();
      const { done, value } = await zip.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel(reason) {
      stopped.abort(reason);
      await zip?.cancel(reason).catch(() => undefined);
    },
  });
}

async function begun(
  directory: CheckpointDirectory,
  wanted: readonly number[] | undefined,
  context: TaskContext,
): Promise<ReadableStream<Uint8Array>> {
  const steps = await stepFiles(openDirectory(directory).access, directoryName(directory), wanted, context);
  const { makeZip } = await import("client-zip");
  return makeZip(entriesOf(steps, context));
}

async function* entriesOf(steps: readonly StepFiles[], context: TaskContext) {
  const progress = new RestoreProgress(totalBytes(steps), totalFiles(steps), context);
  for (const step of steps) {
    for (const file of step.files) {
      const name = `${step.step}/${file.path}`;
      const followed = progress.leaf(name, file.length);
      yield { name, size: file.length, input: bytesOf(step, file, (bytes) => followed.add(bytes), context) };
      followed.finish();
    }
  }
  progress.done();
}

/** A file's bytes; the place's lock is held until the last of them is taken. */
function bytesOf(step: StepFiles, { path, length }: StepFile, taken: (bytes: number) => void, { signal }: TaskContext) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const read = async () => {
    for await (const piece of streamRange(step.root, `${step.step}/${path}`, { offset: 0, length }, { signal })) {
      await writer.write(piece.slice()); // the place may use a piece's memory again
      taken(piece.length);
    }
  };
  step
    .again(read, { signal })
    .then(
      () => writer.close(),
      (error) => writer.abort(error),
    )
    .catch(() => undefined);
  return readable;
}
