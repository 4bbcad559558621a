import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";

/** @typedef {import("./server.d.mts").ServedFile} ServedFile */
/** @typedef {import("./server.d.mts").ServerRoot} ServerRoot */
/** @typedef {{ file: ServedFile } | { directory: { name: string, directory: boolean, size: number }[] } | undefined} Found */

/**
 * What stands at a decoded path ("/a/b", "/a/"): a file, a directory's entries, or nothing.
 * @param {ServerRoot} root
 * @param {string} path
 * @returns {Promise<Found>}
 */
export async function find(root, path) {
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === ".." || part.includes("\0") || part.includes("\\"))) return undefined;
  if (typeof root === "string") return findOnDisk(root, parts, path.endsWith("/"));
  if (root instanceof Map) return findInMap(root, parts.join("/"), path.endsWith("/"));
  const file = await root(path);
  return file === undefined ? undefined : { file: file instanceof Uint8Array ? fileOf(file) : file };
}

/**
 * Bytes as a served file, with a strong ETag of their content.
 * @param {Uint8Array} bytes
 * @returns {ServedFile}
 */
export function fileOf(bytes) {
  return {
    size: bytes.byteLength,
    etag: etagOf(bytes),
    lastModified: new Date(1_700_000_000_000),
    async *read(start, end) {
      yield bytes.subarray(start, end);
    },
  };
}

/** @type {WeakMap<Uint8Array, string>} */
const etags = new WeakMap();

/** @param {Uint8Array} bytes */
function etagOf(bytes) {
  const known = etags.get(bytes);
  if (known !== undefined) return known;
  const etag = `"${createHash("sha1").update(bytes).digest("hex").slice(0, 20)}"`;
  etags.set(bytes, etag);
  return etag;
}

/**
 * @param {Map<string, Uint8Array | ServedFile>} files
 * @param {string} name
 * @param {boolean} slash
 * @returns {Found}
 */
function findInMap(files, name, slash) {
  // A map has no folders of its own, and its keys may begin with a slash or not.
  const file = slash ? undefined : (files.get(name) ?? files.get(`/${name}`));
  if (file !== undefined) return { file: file instanceof Uint8Array ? fileOf(file) : file };
  const prefix = name === "" ? "" : `${name}/`;
  const entries = new Map();
  for (const [key, value] of files) {
    const path = key.replace(/^\//, "");
    if (!path.startsWith(prefix)) continue;
    const [first = "", ...rest] = path.slice(prefix.length).split("/");
    const size = value instanceof Uint8Array ? value.byteLength : value.size;
    entries.set(first, { name: first, directory: rest.length > 0, size });
  }
  return entries.size === 0 && name !== "" ? undefined : { directory: sorted([...entries.values()]) };
}

/**
 * @param {string} root
 * @param {string[]} parts
 * @param {boolean} slash
 * @returns {Promise<Found>}
 */
async function findOnDisk(root, parts, slash) {
  const base = await realpath(resolve(root));
  const path = await realpath(join(base, ...parts)).catch(() => undefined);
  if (path === undefined || (path !== base && !path.startsWith(base + sep))) return undefined;
  const status = await stat(path);
  if (status.isDirectory()) {
    const entries = await readdir(path, { withFileTypes: true });
    return {
      directory: sorted(
        await Promise.all(
          entries.map(async (entry) => ({
            name: entry.name,
            directory: entry.isDirectory(),
            size: entry.isFile() ? (await stat(join(path, entry.name))).size : 0,
          })),
        ),
      ),
    };
  }
  if (!status.isFile() || slash) return undefined;
  return {
    file: {
      size: status.size,
      etag: `"${status.size.toString(16)}-${Math.floor(status.mtimeMs).toString(16)}"`,
      lastModified: status.mtime,
      read: (start, end) => (start === end ? nothing() : createReadStream(path, { start, end: end - 1 })),
    },
  };
}

async function* nothing() {}

/** @param {{ name: string, directory: boolean, size: number }[]} entries */
const sorted = (entries) => entries.sort((a, b) => (a.name < b.name ? -1 : 1));
