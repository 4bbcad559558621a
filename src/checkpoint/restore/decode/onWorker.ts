import { abortable, type TaskContext } from "../../../tasks/context.js";
import { stopTogether } from "../../../tasks/stopTogether.js";
import type { WorkerLease } from "../../../tasks/workerPool.js";
import type { KeptBodies } from "./keptBodies.js";
import type { FileShare, FromWorker, SplitPart, ToWorker } from "./messages.js";
import { unpackError } from "./packError.js";
import type { Piece } from "./parts.js";
import type { PieceMemory } from "./pieceMemory.js";

/** Bytes of a run as they come. */
export interface JobStream {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Where the first of them stands in its file. */
  readonly start: number;
  /** What they are posted in, unless the worker has them. */
  readonly memory: PieceMemory;
  /** The worker's part in fetching them. */
  readonly kept?: KeptBodies | undefined;
  /** First byte of the file that is not of them. */
  readonly end?: number | undefined;
  /** Called before the last of them come, once or more. */
  readonly onNearEnd?: (() => void) | undefined;
}

/** What a job brings along for a worker. */
export interface WorkerJob {
  readonly start: ToWorker & { readonly kind: "decode" };
  /** The bytes of its run as they come, where the worker does not read the file itself. */
  readonly stream?: JobStream | undefined;
  /** The next share, where it reads files itself; undefined at the end. */
  readonly more?: (() => FileShare | undefined) | undefined;
  /** Takes decoded elements; the memory is the worker's again when the promise resolves. */
  readonly onPiece: (piece: Piece) => Promise<void>;
}

/**
 * Runs one job on a worker and gives the worker back.
 * @throws what the job, the stream of its bytes or `onPiece` throws; the worker is ended then, and so on abort.
 */
export async function decodeOnWorker(worker: WorkerLease, job: WorkerJob, context: TaskContext): Promise<void> {
  let finished = false;
  try {
    await stopTogether((together) => converse(worker, job, together), context);
    finished = true;
  } finally {
    worker.release(finished);
  }
}

/** Has a worker look where a frame can be cut; no parts where it cannot. Throws as {@link decodeOnWorker}. */
export async function splitOnWorker(
  worker: WorkerLease,
  question: ToWorker & { readonly kind: "split" },
  context: TaskContext,
): Promise<readonly SplitPart[]> {
  let finished = false;
  try {
    const parts = await stopTogether(() => answerOf(worker, question), context);
    finished = true;
    return parts;
  } finally {
    worker.release(finished);
  }
}

function answerOf(worker: WorkerLease, question: ToWorker): Promise<readonly SplitPart[]> {
  return new Promise((resolve, reject) => {
    worker.broken.catch(reject);
    worker.onMessage((data) => {
      const message = data as FromWorker;
      if (message.kind === "done") resolve(message.parts ?? []);
      else if (message.kind === "failed") reject(unpackError(message.error));
    });
    worker.post(question);
  });
}

async function converse(worker: WorkerLease, { start, stream, more, onPiece }: WorkerJob, context: TaskContext): Promise<void> {
  const writing: Promise<void>[] = [];
  const done = new Promise<void>((resolve, reject) => {
    const write = async (piece: Piece) => {
      await onPiece(piece);
      tell(worker, { kind: "returned", buffer: piece.buffer }, [piece.buffer]);
    };
    worker.broken.catch(reject);
    worker.onMessage((data) => {
      const message = data as FromWorker;
      switch (message.kind) {
        case "piece":
          writing.push(write(message));
          writing.at(-1)?.catch(reject);
          return;
        case "more":
          return tell(worker, { kind: "share", share: more?.() });
        case "answered":
        case "broken":
        case "arrived":
        case "arrivedAll":
          return stream?.kept?.hear(message);
        case "taken":
          return stream?.memory.giveBack(message.buffer);
        case "done":
          return resolve();
        case "failed":
          return reject(unpackError(message.error));
        case "ready":
          return;
        default:
          return message satisfies never;
      }
    });
  });
  tell(worker, start);
  await Promise.all([done, stream && postAll(worker, stream, context)]);
  await Promise.all(writing);
}

/** Bytes of a run that are still to come when the next one is expected. */
const aheadLength = 4 * 1024 * 1024;

/**
 * Copies the bytes into messages, each of which is full: every message leaves some kilobytes of garbage in both threads. What the worker has
 * itself is left out.
 */
async function postAll(worker: WorkerLease, stream: JobStream, context: TaskContext): Promise<void> {
  const { bytes, start, memory, kept, onNearEnd, end = start } = stream;
  let message: Uint8Array<ArrayBuffer> | undefined;
  let byteLength = 0;
  let offset = start;
  const post = () => {
    if (message !== undefined) tell(worker, { kind: "bytes", buffer: message.buffer, byteLength, offset }, [message.buffer]);
    message = undefined;
    offset += byteLength;
    byteLength = 0;
  };
  for await (const piece of bytes) {
    if (offset + byteLength + piece.length >= end - aheadLength) onNearEnd?.();
    if (kept?.isStandIn(piece)) {
      post();
      offset += piece.length;
      continue;
    }
    for (let done = 0; done < piece.length; ) {
      message ??= new Uint8Array(await taken(memory, context));
      const some = piece.subarray(done, done + message.length - byteLength);
      message.set(some, byteLength);
      byteLength += some.length;
      done += some.length;
      if (byteLength === message.length) post();
    }
  }
  post();
  tell(worker, { kind: "end" });
}

async function taken(memory: PieceMemory, context: TaskContext): Promise<ArrayBuffer> {
  const buffer = memory.take();
  return buffer instanceof ArrayBuffer ? buffer : abortable(buffer, context);
}

const tell = (worker: WorkerLease, message: ToWorker, transfer: Transferable[] = []) => worker.post(message, transfer);
