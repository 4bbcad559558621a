/** Bytes that come in order, read into memory of whoever asks. */
export interface ByteSource {
  /** Puts the next bytes at the start of `into` and says how many: at least one, and 0 only at the end. */
  read(into: Uint8Array): number | Promise<number>;
}
