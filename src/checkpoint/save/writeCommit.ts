import { formatJson } from "../../bytes/formatJson.js";
import type { ReadableStorage, WritableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import { type Commit, markerName, readIdentity, type StoreState } from "./commits.js";

/** A name for the folder of the next commit of a step. */
export function nextCommitFolder(step: number, state: StoreState): { readonly folder: string; readonly number: number } {
  const commits = [...state.pending.values(), ...state.outdated].filter((commit) => commit.step === step);
  const number = Math.max(0, ...commits.map((commit) => commit.number)) + 1;
  const random = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { folder: `${step}.orbax-checkpoint-tmp-webgpu-${number}-${random}`, number };
}

/** What a new commit of the step has to name as replaced: all that may stand in the step's folder until it is tidied. */
export async function replacedBy(root: ReadableStorage, step: number, state: StoreState, context: TaskContext): Promise<string[]> {
  const before = [state.pending.get(step)].filter((commit) => commit !== undefined);
  const texts = [await readIdentity(root, String(step), context), ...before.flatMap(({ identity, replaces }) => [identity, ...replaces])];
  return [...new Set(texts)].filter((text) => text !== "");
}

/** Commits: when the marker stands, the step is what the commit says. */
export async function writeMarker(root: WritableStorage, commit: Commit, { signal }: TaskContext): Promise<void> {
  const { identity, replaces, files } = commit;
  const text = formatJson({ version: 1, identity, replaces: [...replaces], files: files === undefined ? null : [...files] });
  await root.write(`${commit.folder}/${markerName}`, new TextEncoder().encode(text), { signal });
}
