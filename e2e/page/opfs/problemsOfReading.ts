import { opfsStorage } from "orbax-webgpu";
import { readCases } from "../../../src/storage/conformanceReads.testing.js";
import { subfolder } from "../../../src/storage/subfolder.js";

/** The conformance cases that fail on a folder with their files, a line each, and how many were run. */
export async function problemsOfReading(folder: string): Promise<{ readonly run: number; readonly problems: string[] }> {
  const storage = opfsStorage(folder);
  const subjects = { storage, snapshot: storage.snapshot?.(), "below the root": subfolder(opfsStorage(), folder) };
  const problems: string[] = [];
  let run = 0;
  for (const [subject, tested] of Object.entries(subjects)) {
    for (const { name, run: check } of readCases()) {
      run += 1;
      try {
        if (tested === undefined) throw new Error("there is none");
        await check(tested);
      } catch (error) {
        problems.push(`${subject}: ${name}: ${error}`);
      }
    }
  }
  return { run, problems };
}
