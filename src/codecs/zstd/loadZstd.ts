let loading: Promise<WebAssembly.Module | undefined> | undefined;

/**
 * zstd's decoder, compiled on first use and then kept; `undefined` where WebAssembly is missing or forbidden (a CSP without
 * `'wasm-unsafe-eval'`). It can be posted to workers.
 */
export function loadZstd(): Promise<WebAssembly.Module | undefined> {
  loading ??= compile().catch((error: unknown) => {
    loading = undefined; // a file that could not be loaded may be there the next time
    throw error;
  });
  return loading;
}

async function compile(): Promise<WebAssembly.Module | undefined> {
  const { zstdWasm } = await import("./zstdWasm.js");
  try {
    return await WebAssembly.compile(await inflated(bytesOf(zstdWasm)));
  } catch {
    return undefined;
  }
}

const inflated = (bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> =>
  new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).arrayBuffer();

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
