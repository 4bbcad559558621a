import { fileAt } from "../opfs.js";
import type { Contender, Task } from "./contenders.js";
import { pathOf } from "./places.js";
import { pieceBytes, RawUpload } from "./rawUpload.js";
import type { ReadRaw } from "./readRaw.worker.js";

const slots = 8;

interface Reader {
  readonly worker: Worker;
  readonly memory: Uint8Array<SharedArrayBuffer>;
}

let started: Reader | undefined;

/** The page's one reading worker and the memory that it shares with the page. */
function reader(): Reader {
  started ??= {
    worker: new Worker(new URL("./readRaw.worker.ts", import.meta.url), { type: "module" }),
    memory: new Uint8Array(new SharedArrayBuffer(slots * pieceBytes)),
  };
  return started;
}

/** A worker reads into shared memory by a sync handle, and the page uploads from there. */
export const opfsFloor = (task: Task): Contender => {
  const { worker, memory } = reader();
  return async (device, set) => {
    const upload = new RawUpload(device, set);
    const file = await fileAt(`${pathOf(task)}raw.bin`);
    const pieces = Math.ceil(set.bytes / pieceBytes);
    const ask = (piece: number) => {
      if (piece < pieces) {
        const slot = memory.subarray((piece % slots) * pieceBytes, ((piece % slots) + 1) * pieceBytes);
        worker.postMessage({ kind: "read", at: piece * pieceBytes, slot } satisfies ReadRaw);
      }
    };
    const answers = answersOf(worker);
    worker.postMessage({ kind: "open", file } satisfies ReadRaw);
    for (let piece = 0; piece < slots; piece += 1) ask(piece);
    for (let piece = 0; piece < pieces; piece += 1) {
      const byteLength = await answers.next();
      const start = (piece % slots) * pieceBytes;
      await upload.write(memory.subarray(start, start + byteLength));
      ask(piece + slots);
    }
    worker.postMessage({ kind: "close" } satisfies ReadRaw);
    return upload.loaded;
  };
};

/** A worker's answers, in order. */
function answersOf(worker: Worker): { next(): Promise<number> } {
  const come: number[] = [];
  let waiting: ((byteLength: number) => void) | undefined;
  worker.onmessage = ({ data }: MessageEvent<number>) => {
    if (waiting === undefined) come.push(data);
    else waiting(data);
    waiting = undefined;
  };
  return {
    async next() {
      return come.shift() ?? new Promise<number>((resolve) => (waiting = resolve));
    },
  };
}
