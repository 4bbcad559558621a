import { OrbaxCheckpointStore, type ReadableStorage } from "orbax-webgpu";
import type { SetDescription } from "../protocol.js";
import type { Contender, Loaded, Task } from "./contenders.js";
import { pathOf, urlOf } from "./places.js";

/** This package: a store, and a restore without templates. */
export const ours =
  (task: Task): Contender =>
  (device, set) =>
    restoreOurs(`${task.place === "opfs" ? pathOf(task) : urlOf(task)}checkpoints`, device, set);

/** Restores a set out of a place. */
export async function restoreOurs(place: string | ReadableStorage, device: GPUDevice, { arrays }: SetDescription): Promise<Loaded> {
  const store = new OrbaxCheckpointStore(place);
  const checkpoint = await store.restore(1, { device });
  const buffers = new Map<string, GPUBuffer>();
  for (const { name } of arrays) {
    const leaf = checkpoint.leaf("model", name);
    if (typeof leaf === "object" && leaf !== null && "buffer" in leaf) buffers.set(name, leaf.buffer);
  }
  return { buffers, free: () => checkpoint.destroy() };
}
