import type { HostApi } from "./api.js";

/** A URL whose host is known to list folders; the URL is another one where it led to a page that shows the files. */
export interface KnownUrl {
  readonly url: URL;
  readonly api: HostApi | undefined;
}

/** How the host of an `https:` URL lists, by its name; the URL ends with `/`. */
export function apiOfUrl(url: URL): KnownUrl {
  const { hostname, origin } = url;
  if (/(?:^|\.)s3[.-](?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?$/.test(hostname)) {
    return { url, api: bucketApi(url, /^s3[.-]/.test(hostname)) };
  }
  if (hostname.endsWith(".storage.googleapis.com")) return { url, api: bucketApi(url, false) };
  if (hostname === "storage.googleapis.com") {
    const [bucket, prefix] = splitBucket(url) ?? [];
    const objects = `${origin}/storage/v1/b/${bucket}/o`;
    return { url, api: bucket === undefined || prefix === undefined ? undefined : { kind: "gcs", objects: new URL(objects), prefix } };
  }
  return hostname === "huggingface.co" ? huggingFaceUrl(url) : { url, api: undefined };
}

/** S3's way to list, for a bucket that the first part of the path names, or the host's name; undefined where there is no such part. */
export function bucketApi(url: URL, isPath: boolean): HostApi | undefined {
  const [bucket, prefix] = isPath ? (splitBucket(url) ?? []) : ["", decodedPath(url.pathname.slice(1))];
  if (bucket === undefined || prefix === undefined) return undefined;
  const at = new URL(url);
  at.pathname = `/${bucket}`;
  return { kind: "s3", bucket: at, prefix };
}

/** The bucket as it stands in the path, and the prefix in it. */
function splitBucket({ pathname }: URL): readonly [string, string | undefined] | undefined {
  const [, bucket, prefix = ""] = /^\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
  return bucket === undefined ? undefined : [bucket, decodedPath(prefix)];
}

// What a person copies from the browser is the page that shows the folder.
const repositoryPath =
  /^\/((?:datasets|spaces)\/)?([^/]+(?:\/(?!(?:resolve|tree|blob|raw)\/)[^/]+)?)(?:\/(?:resolve|tree|blob|raw)\/([^/]+))?\/(.*)$/;

function huggingFaceUrl(given: URL): KnownUrl {
  const [, kind = "", name, revision = "main", folder = ""] = repositoryPath.exec(given.pathname) ?? [];
  const prefix = decodedPath(folder);
  if (name === undefined || prefix === undefined || name.startsWith("api/")) return { url: given, api: undefined };
  const url = new URL(given);
  url.pathname = `/${kind}${name}/resolve/${revision}/${folder}`;
  const tree = new URL(`${given.origin}/api/${kind || "models/"}${name}/tree/${revision}`);
  return { url, api: { kind: "hf", tree, prefix } };
}

/** Undefined where it has a bare percent sign. */
function decodedPath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
