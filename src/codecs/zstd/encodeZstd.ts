import type { TaskContext } from "../../tasks/context.js";
import { encodeHere } from "./encodeHere.js";
import { encodeOnWorker } from "./encodeOnWorker.js";
import { encoders } from "./encoders.js";

/**
 * Compresses bytes into one zstd frame that tells its content's length: on a worker, where there are such, however few they are, as the encoder
 * is loaded there then. Their memory may be gone afterwards.
 * @throws StorageError `"worker"` where the worker failed or ended, the signal's reason on abort.
 */
export async function encodeZstd(bytes: Uint8Array<ArrayBuffer>, context: TaskContext = {}): Promise<Uint8Array> {
  const workers = await encoders();
  const worker = await workers?.acquire(context);
  return worker === undefined ? encodeHere(bytes) : encodeOnWorker(worker, bytes, context);
}
