import { encodeFrame } from "./encodeFrame.js";
import type { FromEncoder, ToEncoder } from "./encodeMessages.js";

// The entry of the workers that compress, one frame at a time. It is one script with all that it imports: none of it may be loaded later.

const tell = (message: FromEncoder, transfer: Transferable[] = []) => postMessage(message, { transfer });

addEventListener("message", async ({ data }: MessageEvent<ToEncoder>) => {
  try {
    const frame = new Uint8Array(await encodeFrame(new Uint8Array(data.buffer)));
    tell({ kind: "done", frame }, [frame.buffer]);
  } catch (error) {
    tell({ kind: "failed", message: String(error) });
  }
});
tell({ kind: "ready" });
