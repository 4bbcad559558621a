import * as zarr from "zarrita";
import { fileAt } from "../opfs.js";
import type { ArrayDescription } from "../protocol.js";
import { ArrayBuffers } from "./arrayBuffers.js";
import type { Contender, Task } from "./contenders.js";
import { pathOf, urlOf } from "./places.js";

/** zarrita on the same zstd chunks, as files of plain zarr folders: one array after the other, or all at once. */
export const zarrita =
  (task: Task, pace: "one by one" | "together"): Contender =>
  async (device, { arrays }) => {
    const root = zarr.root(task.place === "opfs" ? opfsStore(`${pathOf(task)}zarr`) : new zarr.FetchStore(`${urlOf(task)}zarr`));
    const loaded = new ArrayBuffers(device);
    const load = async (array: ArrayDescription) => {
      const opened = await zarr.open.v2(root.resolve(`tree.${array.name}`), { kind: "array" });
      const { data } = await zarr.get(opened);
      if (!ArrayBuffer.isView(data)) throw new Error(`${array.name} holds no numbers`);
      device.queue.writeBuffer(loaded.of(array), 0, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    };
    if (pace === "together") await Promise.all(arrays.map(load));
    else for (const array of arrays) await load(array);
    return loaded;
  };

/** A folder of the private file system as zarrita's store. */
const opfsStore = (folder: string): zarr.AsyncReadable => ({
  async get(key) {
    try {
      const file = await (await fileAt(`${folder}${key}`)).getFile();
      return new Uint8Array(await file.arrayBuffer());
    } catch (error) {
      if (error instanceof DOMException && error.name === "NotFoundError") return undefined;
      throw error;
    }
  },
});
