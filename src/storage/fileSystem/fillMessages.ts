/**
 * What the thread that writes asks of the worker; `file` tells the open files apart, `id` the answers. `place` is the file's handle or, where those
 * cannot be sent, the names on the way to it from the root of the origin's private file system.
 */
export type ToFillWorker = { readonly id: number; readonly file: number } & (
  | { readonly kind: "open"; readonly place: FileSystemFileHandle | readonly string[] }
  | { readonly kind: "put"; readonly buffer: ArrayBuffer; readonly byteLength: number }
  | { readonly kind: "close" | "abandon" }
);

/** What the worker answers with; its first message says that it has started. */
export type FromFillWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly id: number; readonly buffer?: ArrayBuffer | undefined }
  /** The browser's error, by the parts that every browser can send. */
  | { readonly kind: "failed"; readonly id: number; readonly name: string; readonly message: string };
