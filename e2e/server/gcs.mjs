// @ts-check
import { page } from "./objectList.mjs";

/**
 * @typedef {import("./server.d.mts").ServerHandler} ServerHandler
 * @typedef {{ mayList?: boolean, pageSize?: number }} GcsOptions `mayList`: whether strangers may list (default true).
 */

/**
 * A bucket as Google Cloud Storage's JSON API shows it. Objects asked for with `alt=media` are left to the server's roots.
 * @param {string} bucket
 * @param {ReadonlyMap<string, Uint8Array>} objects
 * @param {GcsOptions} [options]
 * @returns {ServerHandler}
 */
export function gcsHandler(bucket, objects, { mayList = true, pageSize = 1000 } = {}) {
  return ({ path, target }) => {
    const [, name, slash, key = ""] = /^\/storage\/v1\/b\/([^/]+)\/o(\/?)(.*)$/s.exec(path) ?? [];
    if (name !== bucket) return gcsError(404, "The specified bucket does not exist.");
    if (slash === "") return mayList ? listOfObjects(objects, new URL(target, "http://host").searchParams, pageSize) : stranger;
    if (/[/]/.test(target.replace(/\?.*$/s, "").slice(`/storage/v1/b/${bucket}/o/`.length))) return gcsError(404, "Not Found");
    if (!objects.has(key)) return mayList ? { status: 404, body: `No such object: ${bucket}/${key}` } : stranger;
    return /[?&]alt=media(?:&|$)/.test(target) ? undefined : { headers: json, body: JSON.stringify({ kind: "storage#object", name: key }) };
  };
}

const json = { "content-type": "application/json; charset=UTF-8" };

/** @param {number} code @param {string} message */
const gcsError = (code, message) => ({
  status: code,
  headers: json,
  body: JSON.stringify({ error: { code, message, errors: [{ message, domain: "global" }] } }),
});

const stranger = gcsError(401, "Anonymous caller does not have storage.objects.list access to the Google Cloud Storage bucket.");

/**
 * @param {ReadonlyMap<string, Uint8Array>} objects
 * @param {URLSearchParams} query
 * @param {number} pageSize
 */
function listOfObjects(objects, query, pageSize) {
  const after = Buffer.from(query.get("pageToken") ?? "", "base64").toString();
  const asked = { prefix: query.get("prefix") ?? "", delimiter: query.get("delimiter") ?? "", after, pageSize };
  const { entries, last, truncated } = page([...objects.keys()], asked);
  const items = entries.filter(({ isPrefix }) => !isPrefix).map(({ key }) => ({ name: key }));
  const prefixes = entries.filter(({ isPrefix }) => isPrefix).map(({ key }) => key);
  // What is empty is left out.
  const body = {
    ...(truncated && { nextPageToken: Buffer.from(last).toString("base64") }),
    ...(prefixes.length > 0 && { prefixes }),
    ...(items.length > 0 && { items }),
  };
  return { headers: json, body: JSON.stringify(body) };
}
