import { StorageError } from "../../errors.js";

/**
 * Compresses bytes into one zstd frame on this thread, which loads the encoder on first use.
 * @throws StorageError `"unavailable"` where the encoder does not run.
 */
export async function encodeHere(bytes: Uint8Array): Promise<Uint8Array> {
  const { encodeFrame } = await import("./encodeFrame.js");
  return encodeFrame(bytes).catch((cause: unknown) => {
    throw new StorageError({
      path: "",
      reason: "unavailable",
      message: `zstd cannot compress ${bytes.length.toLocaleString("en")} bytes here (${cause}), as where a page's Content-Security-Policy lacks 'unsafe-eval' and 'wasm-unsafe-eval', or memory runs out; save without compression`,
      cause,
    });
  });
}
