import { requireArgument, someBytes } from "../../arguments.js";
import type { FileWriter } from "../fileWriter.js";
import type { CreateOptions } from "../storage.js";
import { changeFailure, isAbsence } from "./failures.js";
import { type FileSink, type OpenSink, openWritableSink } from "./fileSink.js";
import type { FilePlace } from "./makeFolder.js";
import { type Movable, moveFile } from "./moveFile.js";
import { PartialNames } from "./partialFiles.js";
import { patiently } from "./patiently.js";
import { StagedWriter } from "./stagedWriter.js";

/** The file that is filled. */
interface Filled extends FilePlace {
  readonly handle: FileSystemFileHandle & Movable;
  /** True where nothing stood at its name before. */
  readonly made: boolean;
  /** It has its place, or is gone. */
  release?(): void;
}

const partialNames = new PartialNames();

/** Size of the pieces of a file that grows at its place, in bytes: what a writer that is killed loses at most two of. */
const inPlaceBytes = 256 * 1024;

/**
 * Begins a file. With a sink it is filled beside its place, and moved there when it is closed; without one, and where files cannot be
 * moved, a stream changes the file at its place when it is closed. `inPlace`: a sink fills the file at its place, in short pieces.
 */
export async function createPlacedFile(
  path: string,
  place: FilePlace,
  openSink: OpenSink | undefined,
  { inPlace = false, signal }: CreateOptions,
): Promise<FileWriter> {
  try {
    const beside = openSink && !inPlace ? await fileBeside(place) : undefined;
    const filled = beside ?? (await fileAt(place));
    const open = () => (openSink && (inPlace || beside) ? openSink(filled.handle) : openWritableSink(filled.handle));
    const sink = await patiently(path, open, { signal }).catch(async (error: unknown) => {
      await removeMade(filled);
      throw error;
    });
    return writerOf(path, place, inPlace ? { ...filled, made: false } : filled, sink, { inPlace, signal });
  } catch (cause) {
    signal?.throwIfAborted();
    throw await changeFailure(path, cause);
  }
}

async function fileBeside({ folder }: FilePlace): Promise<Filled | undefined> {
  const { name, release } = await partialNames.take();
  try {
    const handle: FileSystemFileHandle & Movable = await folder.getFileHandle(name, { create: true });
    const filled = { folder, name, handle, made: true, release };
    if (handle.move !== undefined) return filled;
    await removeMade(filled);
    return undefined;
  } catch (cause) {
    release();
    throw cause;
  }
}

async function fileAt({ folder, name }: FilePlace): Promise<Filled> {
  const before = await folder.getFileHandle(name).catch((cause: unknown) => {
    if (!isAbsence(cause)) throw cause;
  });
  return { folder, name, handle: before ?? (await folder.getFileHandle(name, { create: true })), made: before === undefined };
}

function writerOf(path: string, place: FilePlace, filled: Filled, sink: FileSink, { inPlace, signal }: CreateOptions): FileWriter {
  const staged = inPlace ? new StagedWriter(sink, inPlaceBytes) : new StagedWriter(sink);
  let placed = false;
  /** Bytes so far. */
  let byteLength = 0;
  const attempt = async (work: Promise<void>) => {
    try {
      await work;
    } catch (cause) {
      throw await changeFailure(path, cause, byteLength);
    }
  };
  return {
    async write(bytes) {
      requireArgument("what a writer takes", bytes, someBytes);
      signal?.throwIfAborted();
      byteLength += bytes.length;
      await attempt(staged.write(bytes));
    },
    async close() {
      signal?.throwIfAborted();
      await attempt(staged.close());
      if (filled.name !== place.name) await patiently(path, () => moveFile(path, filled.handle, place), { signal });
      placed = true;
      filled.release?.();
    },
    async abort() {
      if (placed) return;
      await sink.abandon();
      await removeMade(filled);
    },
  };
}

/** Leaves nothing of a file that did not come to its place. What fails here comes after a failure that matters. */
async function removeMade({ folder, name, made, release }: Filled): Promise<void> {
  if (made) await patiently(name, () => folder.removeEntry(name), {}).catch(() => undefined);
  release?.();
}
