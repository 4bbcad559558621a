import { StorageError } from "../../errors.js";
import { abortable, type TaskContext } from "../../tasks/context.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import type { FromEncoder, ToEncoder } from "./encodeMessages.js";

/**
 * Compresses bytes on a worker, which takes their memory where they fill it, and gives the worker back.
 * @throws StorageError `"memory"` where it fails, `"worker"` where it ends, the signal's reason on abort; the worker is ended then.
 */
export async function encodeOnWorker(worker: WorkerLease, bytes: Uint8Array<ArrayBuffer>, context: TaskContext): Promise<Uint8Array> {
  let finished = false;
  try {
    const frame = await abortable(answerOf(worker, bytes), context);
    finished = true;
    return frame;
  } finally {
    worker.release(finished);
  }
}

function answerOf(worker: WorkerLease, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    worker.broken.catch(reject);
    worker.onMessage((data) => {
      const message = data as FromEncoder;
      if (message.kind === "done") resolve(message.frame);
      else if (message.kind === "failed") reject(failed(bytes.length, message.message));
    });
    const { buffer } = bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();
    const question: ToEncoder = { kind: "encode", buffer };
    worker.post(question, [buffer]);
  });
}

/** libzstd takes any bytes, so that memory is all that it can lack. */
const failed = (byteLength: number, detail: string) =>
  new StorageError({
    path: "",
    reason: "memory",
    message: `there is no memory left to compress ${byteLength.toLocaleString("en")} bytes (${detail}); save fewer at once, or without compression`,
  });
