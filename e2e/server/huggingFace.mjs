// @ts-check
import { page } from "./objectList.mjs";

/**
 * @typedef {import("./server.d.mts").ServerHandler} ServerHandler
 * @typedef {object} HuggingFaceOptions
 * @property {string} [revision] `main` unless given.
 * @property {number} [pageSize] Most entries of a page (default 1000).
 * @property {string} [cdn] Where files kept outside of Git are: the repository's server sends there, with a signed query.
 * @property {(path: string) => boolean} [isLarge] Which files those are.
 * @property {string} [token] Without it the repository does not exist, for all that its server says.
 */

/**
 * A repository as Hugging Face's hub shows it: the tree in JSON, and files under `resolve/`, which the server's roots serve below
 * `/api/resolve-cache/`.
 * @param {string} repository Such as `models/owner/name`.
 * @param {ReadonlyMap<string, Uint8Array>} files
 * @param {HuggingFaceOptions} [options]
 * @returns {ServerHandler}
 */
export function huggingFaceHandler(repository, files, options = {}) {
  const { revision = "main", token } = options;
  const [kind = "", ...name] = repository.split("/");
  const tree = `/api/${repository}/tree/${encodeURIComponent(revision)}`;
  const resolve = `/${kind === "models" ? "" : `${kind}/`}${name.join("/")}/resolve/${encodeURIComponent(revision)}/`;
  return ({ target, headers }) => {
    const { pathname, searchParams } = new URL(target, "http://host");
    if (pathname.startsWith("/api/resolve-cache/")) return undefined;
    // It does not tell strangers what exists.
    if (token !== undefined && headers.authorization !== `Bearer ${token}`)
      return hubError(401, "RepoNotFound", "Invalid username or password.");
    if (pathname === tree || pathname.startsWith(`${tree}/`)) {
      return listOfTree(
        files,
        decodeURIComponent(pathname.slice(tree.length + 1)),
        searchParams,
        `http://${headers.host}${pathname}`,
        options,
      );
    }
    if (pathname.startsWith(resolve)) return resolved(files, decodeURIComponent(pathname.slice(resolve.length)), options);
    if (pathname.includes("/tree/") || pathname.includes("/resolve/")) return hubError(404, "RevisionNotFound", "Invalid rev id");
    return hubError(401, "RepoNotFound", "Invalid username or password.");
  };
}

const json = { "content-type": "application/json; charset=utf-8" };

/** @param {number} status @param {string} code @param {string} error */
const hubError = (status, code, error) => ({
  status,
  headers: { ...json, "x-error-code": code, "x-error-message": error },
  body: JSON.stringify({ error }),
});

/**
 * @param {ReadonlyMap<string, Uint8Array>} files
 * @param {string} path
 * @param {HuggingFaceOptions} options
 */
function resolved(files, path, { cdn, isLarge = () => false }) {
  if (!files.has(path)) return hubError(404, "EntryNotFound", "Entry not found");
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  if (cdn !== undefined && isLarge(path)) {
    return { status: 302, headers: { location: `${cdn}/${encoded}?Expires=1&Signature=cdn-signature`, "x-linked-etag": '"0"' } };
  }
  return { status: 307, headers: { location: `/api/resolve-cache/${encoded}?etag=0` } };
}

/**
 * @param {ReadonlyMap<string, Uint8Array>} files
 * @param {string} folder
 * @param {URLSearchParams} query
 * @param {string} url
 * @param {HuggingFaceOptions} options
 */
function listOfTree(files, folder, query, url, { pageSize = 1000, isLarge = () => false }) {
  const prefix = folder === "" ? "" : `${folder}/`;
  const after = Buffer.from(query.get("cursor") ?? "", "base64url").toString();
  const { entries, last, truncated } = page([...files.keys()], { prefix, delimiter: "/", after, pageSize });
  if (entries.length === 0 && prefix !== "") return hubError(404, "EntryNotFound", `${folder} does not exist on "main"`);
  const tree = entries.map(({ key, isPrefix }) => ({
    type: isPrefix ? "directory" : "file",
    oid: "0",
    size: files.get(key)?.byteLength ?? 0,
    ...(isLarge(key) && { lfs: { oid: "0", size: files.get(key)?.byteLength, pointerSize: 134 } }),
    path: key.replace(/\/$/, ""),
  }));
  const link = `<${url}?expand=false&cursor=${Buffer.from(last).toString("base64url")}>; rel="next"`;
  return { headers: { ...json, ...(truncated && { link }) }, body: JSON.stringify(tree) };
}
