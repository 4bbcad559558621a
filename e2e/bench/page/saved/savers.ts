import { OrbaxCheckpointStore } from "orbax-webgpu";
import { fileAt } from "../opfs.js";
import type { SaverName, SetDescription } from "../protocol.js";
import { wrongWords } from "../wrongWords.js";
import type { RawWritten, WriteRaw } from "./writeRaw.worker.js";

/** What a saver saves, and where. */
export interface SaveTask {
  readonly device: GPUDevice;
  readonly description: SetDescription;
  /** Path of an empty folder of the private file system, with a slash at its end. */
  readonly folder: string;
}

/** A way to save arrays into the private file system. */
export interface Saver {
  /** Saves once. @returns Milliseconds until all is written. */
  save(task: SaveTask, buffers: ReadonlyMap<string, GPUBuffer>): Promise<number>;
  /** Looks up the described words in what was saved; names those that differ. */
  wrongWords(task: SaveTask): Promise<string[]>;
}

/** This package: a store, and a save of arrays in the caller's own buffers; then a restore. */
const ours: Saver = {
  async save({ device, description, folder }, buffers) {
    const leaves = description.arrays.flatMap(({ name, byteLength }) => {
      const buffer = buffers.get(name);
      return buffer === undefined ? [] : [[name, { shape: [byteLength / 4096, 1024], dtype: "float32", buffer, device }] as const];
    });
    const start = performance.now();
    const store = new OrbaxCheckpointStore(`${folder}checkpoints`);
    await store.save(1, { model: Object.fromEntries(leaves) });
    return performance.now() - start;
  },
  async wrongWords({ device, description, folder }) {
    const checkpoint = await new OrbaxCheckpointStore(`${folder}checkpoints`).restore(1, { device });
    const buffers = new Map<string, GPUBuffer>();
    for (const { name } of description.arrays) {
      const leaf = checkpoint.leaf("model", name);
      if (typeof leaf === "object" && leaf !== null && "buffer" in leaf) buffers.set(name, leaf.buffer);
    }
    const wrong = await wrongWords(device, buffers, description.arrays);
    checkpoint.destroy();
    return wrong;
  },
};

const rawFile = ({ folder }: SaveTask) => fileAt(`${folder}raw.bin`, { create: true });

/** The raw floor: a worker writes the same bytes, which lie ready in its memory, by a sync handle and flushes them once. */
const floor: Saver = {
  async save(task) {
    const worker = new Worker(new URL("./writeRaw.worker.ts", import.meta.url), { type: "module" });
    try {
      const file = await rawFile(task);
      const byteLengths = task.description.arrays.map(({ byteLength }) => byteLength);
      return await new Promise<number>((resolve, reject) => {
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.onmessage = ({ data }: MessageEvent<RawWritten>) => {
          if (typeof data === "string") reject(new Error(data));
          else resolve(data);
        };
        worker.postMessage({ file, byteLengths } satisfies WriteRaw);
      });
    } finally {
      worker.terminate();
    }
  },
  async wrongWords(task) {
    const file = await (await rawFile(task)).getFile();
    const wrong: string[] = [];
    let start = 0;
    for (const { name, byteLength, indices, words } of task.description.arrays) {
      for (const [at, index] of indices.entries()) {
        const word = new Uint32Array(await file.slice(start + 4 * index, start + 4 * index + 4).arrayBuffer())[0];
        if (word !== words[at]) wrong.push(`${name}[${index}]`);
      }
      start += byteLength;
    }
    return wrong;
  },
};

export const savers: Readonly<Record<SaverName, Saver>> = { ours, floor };
