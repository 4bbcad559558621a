import type { CopyFiles } from "./copyFiles.worker.js";
import { directoryAt, opfsFolder } from "./opfs.js";
import type { Command } from "./protocol.js";

/** Puts a part of a set into the private file system, from the server, unless it is there already. */
export async function copyIntoOpfs({ set, part, version, files }: Extract<Command, { kind: "copy" }>): Promise<void> {
  const folder = opfsFolder(set);
  const marker = `complete-${part}`;
  const above = await directoryAt(folder, { create: true });
  if ((await textOf(above, marker)) === version) return;
  await above.removeEntry(part, { recursive: true }).catch(() => {}); // it was not there
  await copyInWorker({ source: `/data/${set}/`, folder, paths: files });
  const writable = await (await above.getFileHandle(marker, { create: true })).createWritable();
  await writable.write(version);
  await writable.close();
}

async function textOf(folder: FileSystemDirectoryHandle, name: string): Promise<string> {
  const file = await (await folder.getFileHandle(name, { create: true })).getFile();
  return file.text();
}

function copyInWorker(message: CopyFiles): Promise<void> {
  const worker = new Worker(new URL("./copyFiles.worker.ts", import.meta.url), { type: "module" });
  return new Promise<void>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<string | undefined>) => (data === undefined ? resolve() : reject(new Error(data)));
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(message);
  }).finally(() => worker.terminate());
}
