/** libzstd's level for chunks, the one that Orbax asks for. */
const level = 1;

/** Compresses bytes into one zstd frame on this thread. numcodecs' build (about 243 KB gzipped) is loaded on first use. */
export async function encodeHere(bytes: Uint8Array): Promise<Uint8Array> {
  const { default: Zstd } = await import("numcodecs/zstd");
  return Zstd.fromConfig({ id: "zstd", level }).encode(bytes);
}
