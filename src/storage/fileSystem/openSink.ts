import { WorkerPool } from "../../tasks/workerPool.js";
import { type FileSink, openSyncSink, openWritableSink } from "./fileSink.js";
import { RemoteFiles } from "./remoteFiles.js";

/** How long the worker is kept without an open file, in milliseconds: the next one often follows soon. */
const idleMs = 5000;

let remoteFiles: Promise<RemoteFiles> | undefined;

/**
 * Begins to fill a file of the origin's private file system in the fastest way there is: by a synchronous handle, here in a dedicated
 * worker, else in a worker of this thread's own; or else by a stream.
 * @throws what the browser does.
 */
export async function openSink(handle: FileSystemFileHandle): Promise<FileSink> {
  // What is refused one way, such as where workers are switched off, the next one may do, and the last one says best.
  const none = () => undefined;
  return (await openSyncSink(handle).catch(none)) ?? (await openRemoteSink(handle).catch(none)) ?? openWritableSink(handle);
}

async function openRemoteSink(handle: FileSystemFileHandle): Promise<FileSink | undefined> {
  if (typeof Worker === "undefined") return undefined;
  remoteFiles ??= startFiles();
  return (await remoteFiles).openSink(handle);
}

async function startFiles(): Promise<RemoteFiles> {
  const { default: FillWorker } = await import("./fillWorker.js?worker&inline");
  return new RemoteFiles(new WorkerPool({ createWorker: () => new FillWorker(), size: 1, idleMs }));
}
