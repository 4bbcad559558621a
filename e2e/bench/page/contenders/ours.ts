import { OrbaxCheckpointStore } from "orbax-webgpu";
import type { Contender, Task } from "./contenders.js";
import { pathOf, urlOf } from "./places.js";

/** This package: a store, and a restore without templates. */
export const ours =
  (task: Task): Contender =>
  async (device, { arrays }) => {
    const store = new OrbaxCheckpointStore(`${task.place === "opfs" ? pathOf(task) : urlOf(task)}checkpoints`);
    const checkpoint = await store.restore(1, { device });
    const buffers = new Map<string, GPUBuffer>();
    for (const { name } of arrays) {
      const leaf = checkpoint.leaf("model", name);
      if (typeof leaf === "object" && leaf !== null && "buffer" in leaf) buffers.set(name, leaf.buffer);
    }
    return { buffers, free: () => checkpoint.destroy() };
  };
