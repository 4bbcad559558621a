// @ts-check
import { page } from "./objectList.mjs";

/**
 * @typedef {import("./server.d.mts").ServerHandler} ServerHandler
 * @typedef {object} S3Options
 * @property {boolean} [virtualHost] The bucket is the host's name, not the first part of the path.
 * @property {boolean} [mayList] Whether strangers may list; without it absent keys are 403, as S3 answers (default true).
 * @property {number} [pageSize] Most entries of a page (default 1000).
 * @property {boolean} [encodes] Whether it knows `encoding-type=url` (default true).
 * @property {1 | 2} [version] 1: knows nothing of `list-type=2`, and goes on by markers.
 */

/**
 * A bucket as S3 and its like show it: ListObjectsV2, and errors as XML. Objects are left to the server's roots.
 * @param {string} bucket
 * @param {ReadonlyMap<string, Uint8Array>} objects
 * @param {S3Options} [options]
 * @returns {ServerHandler}
 */
export function s3Handler(bucket, objects, options = {}) {
  const { virtualHost = false, mayList = true } = options;
  return ({ path, target }) => {
    const [, first = "", key = ""] = virtualHost ? [path, bucket, path.slice(1)] : (/^\/([^/]*)\/?(.*)$/s.exec(path) ?? []);
    if (first !== bucket) return first === "" ? listOfBuckets : s3Answer(404, "NoSuchBucket");
    if (key === "" && isList(target)) return mayList ? listObjects(bucket, objects, target, options) : s3Answer(403, "AccessDenied");
    if (objects.has(key)) return undefined;
    return mayList ? s3Answer(404, "NoSuchKey") : s3Answer(403, "AccessDenied");
  };
}

/** A bucket's own address lists it, whatever the query says. @param {string} target */
const isList = (target) => !target.includes("location");

const listOfBuckets = {
  headers: { "content-type": "application/xml" },
  body: '<?xml version="1.0" encoding="UTF-8"?>\n<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>',
};

/** @param {number} status @param {string} code */
const s3Answer = (status, code) => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>Refused</Message><RequestId>0</RequestId></Error>`,
});

/**
 * @param {string} bucket
 * @param {ReadonlyMap<string, Uint8Array>} objects
 * @param {string} target
 * @param {S3Options} options
 */
function listObjects(bucket, objects, target, { pageSize = 1000, encodes = true, version = 2 }) {
  const query = new URL(target, "http://host").searchParams;
  const urls = encodes && query.get("encoding-type") === "url";
  const write = (/** @type {string} */ key) => (urls ? formEncoded(key) : escaped(key));
  const isV2 = version === 2 && query.get("list-type") === "2";
  const after = isV2 ? fromToken(query.get("continuation-token")) : (query.get("marker") ?? "");
  if (after === undefined) return s3Answer(400, "InvalidArgument");
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const { entries, last, truncated } = page([...objects.keys()], { prefix, delimiter, after, pageSize });
  const next = isV2
    ? `<NextContinuationToken>${escaped(toToken(last))}</NextContinuationToken>`
    : `<NextMarker>${write(last)}</NextMarker>`;
  const body = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${write(prefix)}</Prefix>`,
    `${truncated ? next : ""}<KeyCount>${entries.length}</KeyCount><MaxKeys>1000</MaxKeys><Delimiter>${write(delimiter)}</Delimiter>`,
    `${urls ? "<EncodingType>url</EncodingType>" : ""}<IsTruncated>${truncated}</IsTruncated>`,
    ...entries.map(({ key, isPrefix }) =>
      isPrefix ? `<CommonPrefixes><Prefix>${write(key)}</Prefix></CommonPrefixes>` : contents(write(key)),
    ),
    "</ListBucketResult>",
  ].join("");
  return { headers: { "content-type": "application/xml" }, body };
}

/** @param {string} key */
const contents = (key) =>
  `<Contents><Key>${key}</Key><LastModified>2026-08-02T10:00:00.000Z</LastModified><ETag>&quot;0&quot;</ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>`;

/** As S3 does: a blank is a plus, slashes stay. @param {string} key */
const formEncoded = (key) => encodeURIComponent(key).replaceAll("%20", "+").replaceAll("%2F", "/");

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// Opaque, and with characters that a query must encode.
/** @param {string} key */
const toToken = (key) => `1+${Buffer.from(key).toString("base64")}`;

/** @param {string | null} token */
const fromToken = (token) => (token === null ? "" : token.startsWith("1+") ? Buffer.from(token.slice(2), "base64").toString() : undefined);
