import { ArrayBuffers } from "./arrayBuffers.js";
import type { Contender, Task } from "./contenders.js";
import { urlOf } from "./places.js";

interface Entry {
  readonly data_offsets: readonly [start: number, end: number];
}

/** As loaders of models do it today: the whole file into memory, its header parsed, each tensor into its buffer. */
export const safetensors =
  (task: Task): Contender =>
  async (device) => {
    const file = await (await fetch(`${urlOf(task)}model.safetensors`)).arrayBuffer();
    const headerBytes = Number(new DataView(file).getBigUint64(0, true));
    const header: Record<string, Entry> = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, headerBytes)));
    const loaded = new ArrayBuffers(device);
    for (const [name, { data_offsets }] of Object.entries(header)) {
      if (name === "__metadata__") continue;
      const [start, end] = data_offsets;
      device.queue.writeBuffer(loaded.of({ name, byteLength: end - start }), 0, file, 8 + headerBytes + start, end - start);
    }
    return loaded;
  };
