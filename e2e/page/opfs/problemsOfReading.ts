import { mirrored, opfsStorage, type ReadableStorage } from "orbax-webgpu";
import { readCases } from "../../../src/storage/conformanceReads.testing.js";
import { subfolder } from "../../../src/storage/subfolder.js";

/** Cases that were run, and a line for each that failed. */
interface ReadingReport {
  readonly run: number;
  readonly problems: string[];
}

/** The conformance cases on a folder with their files. */
export function problemsOfReading(folder: string): Promise<ReadingReport> {
  const storage = opfsStorage(folder);
  return problemsOf({ storage, snapshot: storage.snapshot?.(), "below the root": subfolder(opfsStorage(), folder) });
}

/** The conformance cases on a mirror of a server with their files: while it is filled, and when it was. */
export function problemsOfMirror(url: string, cache: string): Promise<ReadingReport> {
  return problemsOf({ first: mirrored(url, cache), again: mirrored(url, cache), snapshot: mirrored(url, cache).snapshot() });
}

async function problemsOf(subjects: Readonly<Record<string, ReadableStorage | undefined>>): Promise<ReadingReport> {
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
