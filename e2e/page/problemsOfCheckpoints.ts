import { openCheckpoint } from "orbax-webgpu";
import { differences, type ExpectedLeaf, valueAt } from "../fixtures/expected.js";
import { countBuffers } from "./countBuffers.js";
import { misplacements } from "./problemsOfStep.js";

/** What is opened, and what it has to hold. */
export interface WantedCheckpoint {
  readonly url: string;
  readonly options: { readonly step?: number; readonly item?: string };
  readonly leaves: readonly ExpectedLeaf[];
}

/**
 * Restores checkpoints onto a device, 64-bit arrays too: a line for each leaf that has other bytes, stands elsewhere than it should, or in a
 * buffer of another size, usage, label or padding; for each that does not open; and for buffers that stay.
 */
export async function problemsOfCheckpoints(wanted: readonly WantedCheckpoint[], device: GPUDevice): Promise<string[]> {
  const buffers = countBuffers(device);
  const problems: string[] = [];
  for (const checkpoint of wanted) {
    const lines = await problemsOf(checkpoint, device).catch((error: unknown) => [String(error)]);
    problems.push(...lines.map((line) => `${checkpoint.url} ${JSON.stringify(checkpoint.options)}: ${line}`));
  }
  return [...problems, ...(buffers().alive === 0 ? [] : [`${buffers().alive} buffers are left`])];
}

async function problemsOf({ url, options, leaves }: WantedCheckpoint, device: GPUDevice): Promise<string[]> {
  const checkpoint = await openCheckpoint(url, { ...options, device, enableX64: true });
  const tree = await checkpoint.restore();
  const lines = await Promise.all([
    differences(tree, leaves),
    ...leaves.map((leaf) => misplacements(valueAt(tree, leaf.path), checkpoint.item ?? "", leaf, device)),
  ]);
  checkpoint.destroy();
  return lines.flat();
}
