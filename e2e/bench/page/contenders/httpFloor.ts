import type { Contender, Task } from "./contenders.js";
import { urlOf } from "./places.js";
import { pieceBytes, RawUpload } from "./rawUpload.js";

/** TypeScript does not know `min` yet: at least so many elements, unless the stream ends. */
interface ByteReader {
  read(
    into: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<{ readonly value?: Uint8Array<ArrayBuffer>; readonly done: boolean }>;
}

/** One request, whose byte stream is read into the same memory over and over, a piece ahead of the upload. */
export const httpFloor =
  (task: Task): Contender =>
  async (device, set) => {
    const upload = new RawUpload(device, set);
    const { body } = await fetch(`${urlOf(task)}raw.bin`, { cache: "no-store" });
    if (body === null) throw new Error("the server sent nothing");
    const reader = body.getReader({ mode: "byob" }) as ByteReader;
    const read = (memory: ArrayBuffer) => reader.read(new Uint8Array(memory), { min: pieceBytes });
    const memories = [new ArrayBuffer(pieceBytes), new ArrayBuffer(pieceBytes)];
    const reads = memories.map(read);
    for (;;) {
      const { value, done } = (await reads.shift()) ?? { done: true };
      if (value !== undefined && value.byteLength > 0) await upload.write(value);
      if (done || value === undefined) break;
      reads.push(read(value.buffer));
    }
    return upload.loaded;
  };
