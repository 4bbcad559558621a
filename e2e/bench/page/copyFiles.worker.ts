import { fileAt, openSync } from "./opfs.js";

export interface CopyFiles {
  /** URL of a folder, with a slash at its end. */
  readonly source: string;
  /** Folder of the private file system. */
  readonly folder: string;
  readonly paths: readonly string[];
}

async function copyFile(url: string, path: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok || response.body === null) throw new Error(`${url} answered ${response.status}`);
  const file = await openSync(await fileAt(path, { create: true }));
  try {
    file.truncate(0);
    for await (const piece of response.body) {
      const written = file.write(piece);
      if (written !== piece.byteLength) throw new Error(`only ${written} of ${piece.byteLength} bytes of ${path} could be written`);
    }
    file.flush();
  } finally {
    file.close();
  }
}

addEventListener("message", async ({ data }: MessageEvent<CopyFiles>) => {
  try {
    for (const path of data.paths) await copyFile(data.source + path, `${data.folder}/${path}`);
    postMessage(undefined);
  } catch (error) {
    postMessage(String(error));
  }
});
