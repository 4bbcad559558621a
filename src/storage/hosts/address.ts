import { CheckpointValueError } from "../../errors.js";
import { encodedPart, type HttpBase, parseBase } from "../http/target.js";
import { requirePath } from "../paths.js";
import type { HostApi } from "./api.js";
import { apiOfUrl } from "./knownUrls.js";

/** Where the hosts of `gs:`, `s3:` and `hf:` addresses are. */
export interface AddressOptions {
  /** Instead of the usual host: the address of an S3-alike, of a mirror of Hugging Face, of a test's server. */
  readonly endpoint?: string | URL | undefined;
  /** Of an `s3:` bucket, such as `"eu-west-1"`. */
  readonly region?: string | undefined;
}

/** Of {@link AddressOptions}. */
export const addressRules = {
  // An endpoint may hold a password.
  endpoint: { expected: "an http(s) URL", accepts: (value: unknown) => typeof value === "string" || value instanceof URL },
  region: { expected: 'a name such as "eu-west-1"', accepts: (value: unknown) => typeof value === "string" && /^[a-z0-9-]+$/.test(value) },
};

/** A storage's place on the web. */
export interface Address {
  readonly base: HttpBase;
  readonly api: HostApi | undefined;
}

const schemes = /^(gs|s3|hf):\/\/(.*)$/is;

/** Whether a text is meant as an address for {@link parseAddress}, not as a folder's path. */
export const isWebAddress = (text: string): boolean => schemes.test(text) || (/^https?:\/\//i.test(text) && URL.canParse(text));

/**
 * Reads `http:` and `https:` URLs, `gs://bucket/path`, `s3://bucket/path` and `hf://owner/repo@revision/path`. Text after these three is taken
 * as it is, as gsutil, aws and huggingface_hub take it, and has no query; that of a `URL` is percent-encoded.
 * @throws CheckpointValueError that does not repeat what was given, which may hold a password.
 */
export function parseAddress(given: string | URL, options: AddressOptions = {}): Address {
  const [, scheme, rest = ""] = schemes.exec(String(given)) ?? [];
  if (rest.includes("?")) throw withQueryError(scheme);
  const text = typeof given === "string" ? rest : decoded(rest);
  switch (scheme?.toLowerCase()) {
    case "gs":
      return gcsAddress(text, options);
    case "s3":
      return s3Address(text, options);
    case "hf":
      return hfAddress(text, options);
    default:
      if (options.endpoint !== undefined || options.region !== undefined)
        throw new CheckpointValueError("endpoint and region are for gs:, s3: and hf: addresses; an http(s) URL says itself where it leads");
      return urlAddress(given);
  }
}

/** It would become a part of every file's name, and so of errors. */
const withQueryError = (scheme: string | undefined): CheckpointValueError =>
  new CheckpointValueError(
    `${scheme}: addresses have no query: give httpStorage(address, { region, endpoint, headers }) what it says, and a URL object with %3F for a name with a question mark`,
  );

function urlAddress(given: string | URL): Address {
  const base = parseBase(given);
  const { url, api } = apiOfUrl(base.url);
  return { base: url === base.url ? base : { ...base, url, label: url.origin + url.pathname }, api };
}

/** Google Cloud Storage by its JSON API, which pages of every origin may ask, whatever the bucket's CORS settings. */
function gcsAddress(text: string, { endpoint = "https://storage.googleapis.com" }: AddressOptions): Address {
  const { bucket, prefix } = bucketAndPrefix("gs", text);
  const host = parseBase(endpoint);
  const objects = below(host, `storage/v1/b/${bucket}/o`);
  const url = new URL(`${objects.href}/${encodedPart(prefix)}?alt=media`);
  const label = `${host.label}${bucket}/${encodedPath(prefix)}`;
  return { base: { ...host, url, label, separator: "%2F" }, api: { kind: "gcs", objects, prefix } };
}

function s3Address(text: string, { endpoint, region }: AddressOptions): Address {
  const { bucket, prefix } = bucketAndPrefix("s3", text);
  const host = parseBase(endpoint ?? amazonHost(bucket, region));
  const isPath = endpoint !== undefined || !isHostName(bucket);
  const bucketUrl = isPath ? below(host, bucket) : new URL(host.url);
  const url = below(host, isPath ? `${bucket}/${encodedPath(prefix)}` : encodedPath(prefix));
  return { base: { ...host, url, label: url.origin + url.pathname }, api: { kind: "s3", bucket: bucketUrl, prefix } };
}

/** A name with dots is in no certificate, and hosts' names have no capitals and underscores, as old buckets do. */
const isHostName = (bucket: string): boolean => /^[a-z0-9-]+$/.test(bucket);

function amazonHost(bucket: string, region: string | undefined): string {
  const service = region === undefined ? "s3.amazonaws.com" : `s3.${region}.amazonaws.com`;
  return isHostName(bucket) ? `https://${bucket}.${service}` : `https://${service}`;
}

// A pull request's revision has slashes, and so have those that Hugging Face converts.
const repository =
  /^(?:(datasets|spaces)\/)?((?!(?:datasets|spaces)\/)[\w.-]+\/[\w.-]+|[\w.-]+(?=@))(?:@(refs\/(?:pr\/\d+|convert\/\w+)|[^/]+))?(?:\/(.*))?$/s;

function hfAddress(text: string, { endpoint = "https://huggingface.co" }: AddressOptions): Address {
  const [, kind, name, revision = "main", folder = ""] = repository.exec(text) ?? [];
  if (name === undefined) {
    throw new CheckpointValueError(
      "an hf: address is hf://owner/repo@revision/path, with datasets/ or spaces/ before the owner where it is no model",
    );
  }
  const prefix = prefixOf(folder);
  const host = parseBase(endpoint);
  const version = encodedPart(decoded(revision));
  const url = below(host, `${kind === undefined ? "" : `${kind}/`}${name}/resolve/${version}/${encodedPath(prefix)}`);
  const tree = below(host, `api/${kind ?? "models"}/${name}/tree/${version}`);
  return { base: { ...host, url, label: url.origin + url.pathname }, api: { kind: "hf", tree, prefix } };
}

function bucketAndPrefix(scheme: string, text: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, folder = ""] = /^([a-z0-9][a-z0-9._-]+)(?:\/(.*))?$/is.exec(text) ?? [];
  if (bucket === undefined) throw new CheckpointValueError(`${scheme}: addresses are ${scheme}://bucket/path, without credentials`);
  return { bucket, prefix: prefixOf(folder) };
}

/** A folder as a prefix of keys: `""`, or ending with one slash. */
function prefixOf(folder: string): string {
  const path = folder.replace(/^\/+|\/+$/g, "");
  if (path === "") return "";
  requirePath(path);
  return `${path}/`;
}

const encodedPath = (path: string): string => path.split("/").map(encodedPart).join("/");

function below(host: HttpBase, path: string): URL {
  const url = new URL(host.url);
  url.pathname += path;
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
