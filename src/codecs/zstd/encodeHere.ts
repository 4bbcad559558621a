/** Compresses bytes into one zstd frame on this thread, which loads the encoder on first use. */
export async function encodeHere(bytes: Uint8Array): Promise<Uint8Array> {
  const { encodeFrame } = await import("./encodeFrame.js");
  return encodeFrame(bytes);
}
