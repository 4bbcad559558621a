import { directoryStorage, opfsStorage, type WritableStorage } from "orbax-webgpu";
import { conformanceFiles } from "../../../src/storage/conformanceFiles.testing.js";
import { writeCases } from "../../../src/storage/conformanceWrites.testing.js";
import { opfsFolder, putFile } from "./files.js";

/** What came of the writing cases. */
export interface WritingReport {
  readonly run: number;
  /** A line for each that failed, and for each file that was left beside others. */
  readonly problems: string[];
}

/** The writing cases below a folder of the origin's. */
export const problemsOfWriting = (folder: string): Promise<WritingReport> => report(folder, false, (path) => opfsStorage(path));

/** The same over handles of folders: in place of a user's folder, which no test can pick, one of the origin's. */
export const problemsOfDirectory = (folder: string): Promise<WritingReport> =>
  report(folder, true, async (path) => directoryStorage(await opfsFolder(path)));

async function report(
  folder: string,
  beginsEmpty: boolean,
  open: (path: string) => WritableStorage | Promise<WritableStorage>,
): Promise<WritingReport> {
  const cases = writeCases({ beginsEmpty });
  const problems: string[] = [];
  for (const [index, { name, run }] of cases.entries()) {
    const path = `${folder}/${index}`;
    await Promise.all([...conformanceFiles].map(([file, bytes]) => putFile(`${path}/${file}`, bytes)));
    try {
      await run(await open(path));
      problems.push(...(await partialFiles(await opfsFolder(path), path)));
    } catch (error) {
      problems.push(`${name}: ${error}`);
    }
  }
  return { run: cases.length, problems };
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
