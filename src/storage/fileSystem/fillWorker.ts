import { type FileSink, openSyncSink } from "./fileSink.js";
import type { FromFillWorker, ToFillWorker } from "./fillMessages.js";

// The entry of the worker that fills files by synchronous handles, any number of them side by side.

const files = new Map<number, FileSink>();
const tell = (message: FromFillWorker, transfer: Transferable[] = []) => postMessage(message, { transfer });

addEventListener("message", async ({ data }: MessageEvent<ToFillWorker>) => {
  const { id } = data;
  try {
    const buffer = await perform(data);
    tell({ kind: "done", id, buffer }, buffer ? [buffer] : []);
  } catch (error) {
    const { name, message } = error instanceof Error || error instanceof DOMException ? error : { name: "Error", message: String(error) };
    tell({ kind: "failed", id, name, message });
  }
});
tell({ kind: "ready" });

async function perform(asked: ToFillWorker): Promise<ArrayBuffer | undefined> {
  if (asked.kind === "open") {
    const opened = await openSyncSink(await handleAt(asked.place));
    if (opened === undefined) throw new DOMException("there are no synchronous handles", "NotSupportedError");
    files.set(asked.file, opened);
    return undefined;
  }
  const sink = files.get(asked.file);
  if (sink === undefined) throw new DOMException("the file is not open", "InvalidStateError");
  if (asked.kind === "put") return sink.put(asked.buffer, asked.byteLength);
  files.delete(asked.file);
  await (asked.kind === "close" ? sink.close() : sink.abandon());
  return undefined;
}

async function handleAt(place: FileSystemFileHandle | readonly string[]): Promise<FileSystemFileHandle> {
  if ("kind" in place) return place;
  let folder = await navigator.storage.getDirectory();
  for (const name of place.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
  return folder.getFileHandle(place.at(-1) ?? "");
}
