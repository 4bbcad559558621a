import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { appPage, Faults, lfsPointer, s3Error } from "./faults.mjs";
import { fileOf, find } from "./files.mjs";
import { directoryPages } from "./listing.mjs";

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
  if (request.method !== "GET" && request.method !== "HEAD") return finish(request, outgoing, 405, headers, "method not allowed");
  const found = met.body ? { file: bodyFile(met.body) } : await find(...placeOf(options, request.path));
  if (found === undefined) return finish(request, outgoing, 404, headers, "not found");
  if ("file" in found) return sendFile(options, met, request, outgoing, headers, found.file);
  return sendDirectory(options, met, request, outgoing, headers, found.directory);
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
      "accept-ranges, content-encoding, content-length, content-range, etag, last-modified, retry-after";
  }
  if (request.method === "OPTIONS" && !met["no-preflight"]) {
    common["access-control-allow-methods"] = "GET, HEAD, OPTIONS";
    common["access-control-allow-headers"] = String(request.headers["access-control-request-headers"] ?? "*");
    common["access-control-max-age"] = "600";
  }
  return common;
}

/**
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {number} status
 * @param {Record<string, string>} headers
 * @param {string} [body]
 */
function finish(request, outgoing, status, headers, body = "") {
  request.status = status;
  request.bytes = Buffer.byteLength(body);
  const length = status === 204 ? {} : { "content-length": String(request.bytes) };
  outgoing.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...length, ...headers });
  outgoing.end(request.method === "HEAD" ? undefined : body);
}

/**
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {Record<string, string>} headers
 * @param {NonNullable<Met["status"]>} fault
 */
function refuse(request, outgoing, headers, { status, retryAfter, body = `status ${status}`, contentType = "text/plain" }) {
  /** @type {Record<string, string>} */
  const answer = { ...headers, "content-type": contentType };
  if (retryAfter !== undefined) answer["retry-after"] = String(retryAfter);
  finish(request, outgoing, status, answer, body);
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

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {Record<string, string>} common
 * @param {ServedFile} original
 */
async function sendFile(options, met, request, outgoing, common, original) {
  let file = met.replace ? replaced(original, met.replace) : original;
  if (met.gzip && met.gzip.of !== "part")
    file = { ...original, ...fileOf(gzipSync(await bytesOf(file, 0, file.size))), etag: original.etag };
  const rangeless = met["ignore-range"] || (met.body && !met.body.ranges);
  const range = rangeless ? undefined : parseRange(request.range, file.size);
  /** @type {Record<string, string>} */
  const headers = {
    ...common,
    "content-type": file.contentType ?? contentTypeOf(request.path),
    "accept-ranges": rangeless ? "none" : "bytes",
  };
  if (file.etag !== undefined) headers.etag = file.etag;
  if (file.lastModified !== undefined) headers["last-modified"] = file.lastModified.toUTCString();
  if (range === "unsatisfiable") {
    return finish(
      request,
      outgoing,
      416,
      hidden(met, { ...headers, "content-range": `bytes */${file.size}`, "content-type": "text/plain" }),
    );
  }
  const start = Math.min((range?.start ?? 0) + (range ? (met.shift?.by ?? 0) : 0), file.size);
  const end = range?.end ?? file.size;
  if (range) headers["content-range"] = `bytes ${start}-${end - 1}/${file.size}`;
  let bytes = file.read(start, end);
  let length = end - start;
  if (met.gzip?.of === "part") {
    const packed = gzipSync(await bytesOf(file, start, end));
    bytes = fileOf(packed).read(0, packed.byteLength);
    length = packed.byteLength;
  }
  if (met.gzip && !met.gzip.hidden) headers["content-encoding"] = "gzip";
  length = Math.max(0, length - (met.short?.by ?? 0) + (met.long?.by ?? 0));
  headers["content-length"] = String(length);
  request.status = range ? 206 : 200;
  outgoing.writeHead(request.status, hidden(met, headers));
  if (request.method === "HEAD") {
    outgoing.end();
    return;
  }
  await sendBody(options, met, request, outgoing, bytes, length);
}

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {AsyncIterable<Uint8Array>} bytes
 * @param {number} length
 */
async function sendBody(options, met, request, outgoing, bytes, length) {
  const rate = met.slow?.bytesPerSecond ?? options.bytesPerSecond;
  const stop = Math.min(length, met.cut?.afterBytes ?? length, met.hang?.afterBytes ?? length);
  for await (const piece of padded(bytes, length)) {
    for (const part of parts(piece.subarray(0, stop - request.bytes), rate)) {
      if (outgoing.destroyed) return;
      request.bytes += part.byteLength;
      const flowing = outgoing.write(part);
      if (!flowing) await drained(outgoing);
      if (rate !== undefined) await delay((part.byteLength / rate) * 1000);
    }
    if (request.bytes >= stop) break;
  }
  if (met.hang) return;
  // What was written must be on its way before the connection is cut.
  if (stop < length) await delay(5).then(() => outgoing.socket?.destroy());
  else outgoing.end();
}

/**
 * The bytes, cut or lengthened with zeros to `length`.
 * @param {AsyncIterable<Uint8Array>} bytes
 * @param {number} length
 */
async function* padded(bytes, length) {
  let sent = 0;
  for await (const piece of bytes) {
    const part = piece.subarray(0, length - sent);
    sent += part.byteLength;
    yield part;
    if (sent === length) return;
  }
  if (sent < length) yield new Uint8Array(length - sent);
}

/**
 * @param {Uint8Array} piece
 * @param {number | undefined} rate
 */
function* parts(piece, rate) {
  const longest = rate === undefined ? 256 * 1024 : Math.max(1, Math.floor(rate / 50));
  for (let at = 0; at < piece.byteLength; at += longest) yield piece.subarray(at, at + longest);
}

/**
 * Waits until more can be written, or the client is gone.
 * @param {Outgoing} outgoing
 */
function drained(outgoing) {
  return new Promise((resolve) => {
    const go = () => {
      outgoing.off("drain", go).off("close", go);
      resolve(undefined);
    };
    outgoing.on("drain", go).on("close", go);
  });
}

/**
 * @param {ServedFile} file
 * @param {number} start
 * @param {number} end
 */
async function bytesOf(file, start, end) {
  const pieces = [];
  for await (const piece of file.read(start, end)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/**
 * @param {ServedFile} file
 * @param {NonNullable<Met["replace"]>} fault
 * @returns {ServedFile}
 */
function replaced(file, { bytes, etag = true }) {
  const other = fileOf(bytes);
  return etag ? { ...other, lastModified: new Date(1_800_000_000_000) } : { ...other, etag: file.etag, lastModified: file.lastModified };
}

/**
 * @param {Met} met
 * @param {Record<string, string>} headers
 */
function hidden(met, headers) {
  if (!met["hide-headers"]) return headers;
  const { etag, "last-modified": modified, "content-range": range, "accept-ranges": ranges, ...rest } = headers;
  return rest;
}

/**
 * A single closed or open range; anything else is answered as if it were not there.
 * @param {string | undefined} header
 * @param {number} size
 * @returns {{ start: number, end: number } | "unsatisfiable" | undefined}
 */
function parseRange(header, size) {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? "");
  if (match === null) return undefined;
  const start = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Number(match[2]);
  if (last < start && match[2] !== "") return undefined;
  return start >= size ? "unsatisfiable" : { start, end: Math.min(last + 1, size) };
}

const contentTypes = new Map([
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["mjs", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["json", "application/json"],
  ["map", "application/json"],
  ["svg", "image/svg+xml"],
  ["png", "image/png"],
  ["ico", "image/x-icon"],
  ["wasm", "application/wasm"],
  ["txt", "text/plain; charset=utf-8"],
  ["md", "text/markdown; charset=utf-8"],
]);

/** @param {string} path */
function contentTypeOf(path) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return (dot > 0 && contentTypes.get(name.slice(dot + 1).toLowerCase())) || "application/octet-stream";
}
