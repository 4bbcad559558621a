import { StorageError } from "../../errors.js";
import { abortable, type TaskContext } from "../../tasks/context.js";
import type { WorkerLease } from "../../tasks/workerPool.js";
import type { FromEncoder, ToEncoder } from "./encodeMessages.js";

/**
 * Compresses bytes on a worker, which takes their memory where they fill it, and gives the worker back.
 * @throws StorageError `"worker"` where it fails or ends, the signal's reason on abort; the worker is ended then.
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
  const { length } = bytes;
  return new Promise((resolve, reject) => {
    worker.broken.catch(reject);
    worker.onMessage((data) => {
      const message = data as FromEncoder;
      if (message.kind === "done") resolve(message.frame);
      else if (message.kind === "failed") reject(failed(length, message.message));
    });
    const { buffer } = bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice();
    const question: ToEncoder = { kind: "encode", buffer };
    worker.post(question, [buffer]);
  });
}

const failed = (byteLength: number, detail: string) =>
  new StorageError({
    path: "",
    reason: "worker",
    message: `a worker could not compress ${byteLength.toLocaleString("en")} bytes (${detail}), as where memory runs out, or a page's Content-Security-Policy lacks 'unsafe-eval' and 'wasm-unsafe-eval'; save fewer at once, or without compression`,
  });
