import { fileAt } from "../opfs.js";
import { ArrayBuffers } from "./arrayBuffers.js";
import type { Contender, Task } from "./contenders.js";
import { pathOf, urlOf } from "./places.js";

/** What comes to mind first: the whole file of raw bytes into memory, then each array into its buffer. */
export const naive =
  (task: Task): Contender =>
  async (device, { arrays }) => {
    const bytes = await wholeFile(task);
    const loaded = new ArrayBuffers(device);
    let at = 0;
    for (const array of arrays) {
      device.queue.writeBuffer(loaded.of(array), 0, bytes, at, array.byteLength);
      at += array.byteLength;
    }
    return loaded;
  };

async function wholeFile(task: Task): Promise<ArrayBuffer> {
  if (task.place === "opfs") return (await (await fileAt(`${pathOf(task)}raw.bin`)).getFile()).arrayBuffer();
  return (await fetch(`${urlOf(task)}raw.bin`)).arrayBuffer();
}
