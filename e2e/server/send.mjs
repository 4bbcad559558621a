import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { fileOf } from "./files.mjs";

/** @typedef {import("./server.d.mts").ServerOptions} ServerOptions */
/** @typedef {import("./server.d.mts").ServedRequest} ServedRequest */
/** @typedef {import("./server.d.mts").ServedFile} ServedFile */
/** @typedef {ReturnType<import("./faults.mjs").Faults["meet"]>} Met */
/** @typedef {import("node:http").ServerResponse} Outgoing */

/**
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {number} status
 * @param {Record<string, string>} headers
 * @param {string} [body]
 */
export function finish(request, outgoing, status, headers, body = "") {
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
export function refuse(request, outgoing, headers, { status, retryAfter, body = `status ${status}`, contentType = "text/plain" }) {
  /** @type {Record<string, string>} */
  const answer = { ...headers, "content-type": contentType };
  if (retryAfter !== undefined) answer["retry-after"] = String(retryAfter);
  finish(request, outgoing, status, answer, body);
}

/**
 * @param {ServerOptions} options
 * @param {Met} met
 * @param {ServedRequest} request
 * @param {Outgoing} outgoing
 * @param {Record<string, string>} common
 * @param {ServedFile} original
 */
export async function sendFile(options, met, request, outgoing, common, original) {
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
  // Once what was written is on its way.
  if (stop < length) outgoing.socket?.destroySoon();
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
