import { openSync, type SyncAccessHandle } from "../opfs.js";

export type ReadRaw =
  | { readonly kind: "open"; readonly file: FileSystemFileHandle }
  /** Reads from byte `at` on into shared memory; the answer is how many bytes there were. */
  | { readonly kind: "read"; readonly at: number; readonly slot: Uint8Array<SharedArrayBuffer> }
  | { readonly kind: "close" };

let opened: Promise<SyncAccessHandle> | undefined;

addEventListener("message", async ({ data }: MessageEvent<ReadRaw>) => {
  switch (data.kind) {
    case "open":
      opened = openSync(data.file);
      break;
    case "read":
      postMessage((await opened)?.read(data.slot, { at: data.at }));
      break;
    case "close":
      (await opened)?.close();
      break;
    default:
      data satisfies never;
  }
});
