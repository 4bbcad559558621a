import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { join, normalize } from "node:path";
import type { Command, Told } from "../page/protocol.js";
import { FileCache } from "./fileCache.js";
import { sendFile } from "./sendFile.js";
import { type LinkSpeed, SharedLink } from "./sharedLink.js";

export interface BenchServerOptions {
  /** Folder of the built page. */
  readonly page: string;
  /** Folder of the sets. */
  readonly data: string;
  /** Always the same one, since a browser keeps private files by origin. */
  readonly port: number;
  readonly slow: LinkSpeed;
}

/** A page told something; `answer` sends it its next command. */
export type OnTold = (seat: string, told: Told, answer: (command: Command) => void) => void;

export interface BenchServer {
  readonly url: string;
  /** Paths of the sets' files that were asked for, in order, since the last call. */
  takeRequests(): string[];
  close(): Promise<void>;
}

/** Serves `/isolated/` and `/plain/` (the page with and without COOP and COEP), `/data/` (the sets), `/slow/` (behind a slow network). */
export async function startBenchServer(options: BenchServerOptions, onTold: OnTold): Promise<BenchServer> {
  const files = new FileCache();
  const link = new SharedLink(options.slow);
  let requests: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    if (path === "/told") return hear(request, response, onTold);
    const [, place = "", rest = ""] = /^\/([a-z]+)\/(.*)$/.exec(path) ?? [];
    const isPage = place === "isolated" || place === "plain";
    const found = normalize(`/${rest === "" ? "index.html" : rest}`); // never above the folder
    const file = await files.open(join(isPage ? options.page : options.data, found));
    if (!isPage) requests.push(rest);
    if (file === undefined || !(isPage || place === "data" || place === "slow")) return void response.writeHead(404, isolating).end();
    await sendFile(request, response, found, file, place === "plain" ? {} : isolating, place === "slow" ? link : undefined);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`port ${options.port} cannot be used; does another bench run? (${error.message})`)));
    server.listen(options.port, "127.0.0.1", resolve);
  });
  return {
    url: `http://localhost:${options.port}`,
    takeRequests() {
      const taken = requests;
      requests = [];
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const isolating: OutgoingHttpHeaders = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
  "cross-origin-resource-policy": "same-origin",
};

async function hear(request: IncomingMessage, response: ServerResponse, onTold: OnTold): Promise<void> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece);
  const { seat, told } = JSON.parse(Buffer.concat(pieces).toString());
  onTold(seat, told, (command) => {
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(JSON.stringify(command));
  });
}
