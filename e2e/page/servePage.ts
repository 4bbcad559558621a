import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const folder = join(import.meta.dirname, "..", "results", "page");
const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".map": "application/json",
};

/** A server of the built test page. */
export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the built test page on a free port of this machine. */
export async function servePage(): Promise<PageServer> {
  const server = createServer(async ({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const path = pathname === "/" ? "/index.html" : pathname;
    const bytes = await readFile(join(folder, path)).catch(() => undefined);
    response.writeHead(bytes === undefined ? 404 : 200, { "content-type": types[extname(path)] ?? "application/octet-stream" });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
