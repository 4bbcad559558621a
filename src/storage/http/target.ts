import { CheckpointValueError } from "../../errors.js";

/** Where a storage's files are. */
export interface HttpBase {
  /** Ends with `/`; without user and password, with its query. */
  readonly url: URL;
  /** What errors may show: no user, no password, no query. */
  readonly label: string;
  /** Basic credentials that stood in the URL, as an Authorization header; `fetch` refuses them in a URL. */
  readonly authorization: string | undefined;
  /** What stands between a path's parts: `%2F` where the host takes a whole path as one part of the URL. */
  readonly separator: "/" | "%2F";
}

/** One file of the storage. */
export interface HttpTarget {
  readonly path: string;
  readonly url: URL;
  /** As {@link HttpBase.label}. */
  readonly label: string;
}

/**
 * Reads the URL of a folder, with or without a slash at its end.
 * @throws CheckpointValueError on anything but an absolute http or https URL.
 */
export function parseBase(given: string | URL): HttpBase {
  const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    // What was given may hold a password, so it is not repeated.
    throw new CheckpointValueError(
      'httpStorage needs an absolute http: or https: URL of a folder, with a port of at most 65535 where it has one, or a gs:, s3: or hf: address; for a path of this page use new URL("path/", location.href)',
    );
  }
  const authorization = authorizationOf(url);
  url.username = "";
  url.password = "";
  url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { url, label: url.origin + url.pathname, authorization, separator: "/" };
}

/** The file at a path of the storage, or the folder where the path ends with `/`; every part is percent-encoded and the query is kept. */
export function targetOf(base: HttpBase, path: string): HttpTarget {
  const url = new URL(base.url);
  const parts = path.split("/").map(encodedPart);
  url.pathname += parts.join(base.separator);
  return { path, url, label: base.label + parts.join("/") };
}

/**
 * A part of a path as it stands in a URL.
 * @throws CheckpointValueError where it has no encoding.
 */
export function encodedPart(part: string): string {
  try {
    return encodeURIComponent(part);
  } catch (cause) {
    throw new CheckpointValueError(`${JSON.stringify(part)} has half a surrogate pair and cannot stand in a URL`, { cause });
  }
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

// A URL may hold a bare percent sign.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
