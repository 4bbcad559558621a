import { opfsStorage } from "orbax-webgpu";
import { conformanceFiles } from "../../../src/storage/conformanceFiles.testing.js";
import { writeCases } from "../../../src/storage/conformanceWrites.testing.js";
import { opfsFolder, putFile } from "./files.js";

/** The writing cases that fail below a folder, a line each, with what they left beside the files, and how many were run. */
export async function problemsOfWriting(folder: string): Promise<{ readonly run: number; readonly problems: string[] }> {
  const problems: string[] = [];
  for (const [index, { name, run }] of writeCases.entries()) {
    const path = `${folder}/${index}`;
    await Promise.all([...conformanceFiles].map(([file, bytes]) => putFile(`${path}/${file}`, bytes)));
    try {
      await run(opfsStorage(path));
      problems.push(...(await partialFiles(await opfsFolder(path), path)));
    } catch (error) {
      problems.push(`${name}: ${error}`);
    }
  }
  return { run: writeCases.length, problems };
}

/** Files of writers that were not removed. */
async function partialFiles(folder: FileSystemDirectoryHandle, path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of folder.values()) {
    const below = `${path}/${entry.name}`;
    if (entry.kind === "directory") found.push(...(await partialFiles(await folder.getDirectoryHandle(entry.name), below)));
    else if (entry.name.endsWith(".partial")) found.push(`${below} was left`);
  }
  return found;
}
