import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { appPage, Faults, lfsPointer, s3Error } from "./faults.mjs";
import { fileOf, find } from "./files.mjs";
import { directoryPages } from "./listing.mjs";
import { finish, refuse, sendFile } from "./send.mjs";

export { appPage, lfsPointer, s3Error };

/** @typedef {import("./server.d.mts").ServerOptions} ServerOptions */
/** @typedef {import("./server.d.mts").ServedRequest} ServedRequest */
/** @typedef {import("./server.d.mts").ServedFile} ServedFile */
/** @typedef {ReturnType<Faults["meet"]>} Met */
/** @typedef {import("node:http").IncomingMessage} Incoming */
/** @typedef {import("node:http").ServerResponse} Outgoing */

/**
 * Starts the server; see server.d.mts.
 * @param {ServerOptions} options
 */
export async function startServer(options) {
  const faults = new Faults(options.faults ?? []);
  /** @type {ServedRequest[]} */
  const requests = [];
  let underWay = 0;
  let peak = 0;

  const server = createServer(async (incoming, outgoing) => {
    const request = recordOf(incoming);
    requests.push(request);
    peak = Math.max(peak, ++underWay);
    outgoing.on("close", () => {
      underWay -= 1;
      request.aborted = !outgoing.writableFinished;
    });
    try {
      await answer(options, faults.meet(request), request, outgoing);
    } catch (error) {
      if (!outgoing.headersSent) outgoing.writeHead(500, { "content-type": "text/plain" });
      outgoing.end(String(error));
    }
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", () => resolve(undefined));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;

  return {
    url: `http://${host}:${address.port}`,
    requests,
    get peakRequests() {
      return peak;
    },
    resetRequests() {
      requests.length = 0;
      peak = underWay;
    },
    /** @param {import("./server.d.mts").Fault} fault */
    addFault: (fault) => faults.add(fault),
    clearFaults: () => faults.clear(),
    close: () =>
      /** @type {Promise<void>} */ (
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        })
      ),
  };
}

/**
 * @param {Incoming} incoming
 * @returns {ServedRequest}
 */
function recordOf(incoming) {
  const target = incoming.url ?? "/";
  const [encoded = "/"] = target.split("?");
  let path;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    path = encoded;
  }
  const { range } = incoming.headers;
  return { method: incoming.method ?? "GET", path, target, range, headers: incoming.headers, status: 0, bytes: 0, aborted: false };
}

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 */
async function answer(options, met, request, outgoing) {
  const latency = met.slow?.latencyMs ?? options.latencyMs ?? 0;
  if (latency > 0) await delay(latency);
  if (outgoing.destroyed || (met.hang && met.hang.afterBytes === undefined)) return;
  if (met.cut?.afterBytes === 0) {
    outgoing.socket?.destroy();
    return;
  }
  const headers = commonHeaders(options, met, request);
  if (request.method === "OPTIONS") return finish(request, outgoing, met["no-preflight"] ? 403 : 204, headers);
  if (met.redirect) return finish(request, outgoing, met.redirect.status ?? 302, { ...headers, location: met.redirect.location });
  if (met.status) return refuse(request, outgoing, headers, met.status);
  const own = met.body ? undefined : options.handler?.(request);
  if (own) return sendOwn(options, met, request, outgoing, headers, own);
  if (request.method !== "GET" && request.method !== "HEAD") return finish(request, outgoing, 405, headers, "method not allowed");
  const found = met.body ? { file: bodyFile(met.body) } : await find(...placeOf(options, request.path));
  if (found === undefined) return finish(request, outgoing, 404, headers, "not found");
  if ("file" in found) return sendFile(options, met, request, outgoing, headers, found.file);
  return sendDirectory(options, met, request, outgoing, headers, found.directory);
}

/**
 * What a handler answers; a body as a file is sent, so that it meets the same faults.
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {Record<string, string>} headers
 * @param {import("./server.d.mts").OwnAnswer} own
 */
function sendOwn(options, met, request, outgoing, headers, { status = 200, headers: more = {}, body = "" }) {
  const all = { ...headers, ...more };
  if (status !== 200) return finish(request, outgoing, status, all, body);
  const { size, read } = fileOf(new TextEncoder().encode(body));
  const file = { size, read, contentType: all["content-type"] };
  return sendFile(options, { ...met, "ignore-range": { kind: "ignore-range" } }, request, outgoing, all, file);
}

/**
 * The root that serves a path, and the path below it.
 * @param {ServerOptions} options
 * @param {string} path
 * @returns {[import("./server.d.mts").ServerRoot, string]}
 */
function placeOf({ root, mounts = {} }, path) {
  const prefix = Object.keys(mounts)
    .sort((a, b) => b.length - a.length)
    .find((candidate) => path.startsWith(candidate));
  const mounted = prefix === undefined ? undefined : mounts[prefix];
  return mounted === undefined || prefix === undefined ? [root, path] : [mounted, `/${path.slice(prefix.length)}`];
}

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @returns {Record<string, string>}
 */
function commonHeaders({ cors = true, isolated = false, headers = {} }, met, request) {
  /** @type {Record<string, string>} */
  const common = { ...headers };
  if (isolated) {
    common["cross-origin-opener-policy"] = "same-origin";
    common["cross-origin-embedder-policy"] = "require-corp";
    common["cross-origin-resource-policy"] = "cross-origin";
  }
  if (!cors) return common;
  common["access-control-allow-origin"] = "*";
  if (!met["hide-headers"]) {
    common["access-control-expose-headers"] =
      "accept-ranges, content-encoding, content-length, content-range, etag, last-modified, link, retry-after";
  }
  if (request.method === "OPTIONS" && !met["no-preflight"]) {
    common["access-control-allow-methods"] = "GET, HEAD, OPTIONS";
    common["access-control-allow-headers"] = String(request.headers["access-control-request-headers"] ?? "*");
    common["access-control-max-age"] = "600";
  }
  return common;
}

/**
 * @param {NonNullable<Met["body"]>} fault
 * @returns {ServedFile}
 */
function bodyFile({ body, contentType = "text/html; charset=utf-8", etag }) {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { ...fileOf(bytes), contentType, ...(etag === undefined ? {} : { etag }) };
}

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {Record<string, string>} headers
 * @param {{ name: string, directory: boolean, size: number }[]} entries
 */
async function sendDirectory(options, met, request, outgoing, headers, entries) {
  if (!request.path.endsWith("/")) {
    const [encoded = "", query] = request.target.split("?");
    return finish(request, outgoing, 301, { ...headers, location: `${encoded}/${query === undefined ? "" : `?${query}`}` });
  }
  const page = entries.some(({ name }) => name === "index.html") ? await find(...placeOf(options, `${request.path}index.html`)) : undefined;
  if (page !== undefined && "file" in page) {
    return sendFile(options, met, request, outgoing, headers, { contentType: "text/html; charset=utf-8", ...page.file });
  }
  const style = options.index ?? "python";
  if (style === "none") return finish(request, outgoing, 404, headers, "not found");
  const body = fileOf(new TextEncoder().encode(directoryPages[style](request.path, entries)));
  const file = { size: body.size, read: body.read, contentType: "text/html; charset=utf-8" };
  return sendFile(options, { ...met, "ignore-range": { kind: "ignore-range" } }, request, outgoing, headers, file);
}
