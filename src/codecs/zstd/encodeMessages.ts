/** What the worker is asked: to compress all of a buffer. */
export interface ToEncoder {
  readonly kind: "encode";
  readonly buffer: ArrayBuffer;
}

/** What it answers; its first message says that it has started. */
export type FromEncoder =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly frame: Uint8Array<ArrayBuffer> }
  | { readonly kind: "failed"; readonly message: string };
