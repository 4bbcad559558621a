import type { HostText } from "./readText.js";

/** One page of a list by a host's API. */
export interface ApiPage {
  /** Whole keys; those of folders end with `/`. */
  readonly keys: readonly string[];
  /** Members of the query that ask for the next page, or its URL; undefined on the last page. */
  readonly next: Readonly<Record<string, string>> | URL | undefined;
}

/** How a kind of API is asked, and what it answers. */
export interface ApiReader {
  /** The first page's URL, for keys that begin with a prefix. */
  firstPage(prefix: string): URL;
  /** Undefined where the answer is something else. */
  parse(answer: HostText): ApiPage | undefined;
  /** Statuses besides the usual ones that mean that listing is not allowed. */
  readonly unlisted?: readonly number[];
  /** What a 404 means: there is no such folder, or nothing to list at all. */
  readonly absent: "folder" | "place";
}

/** A URL with more members in its query. */
export function withQuery(url: URL, members: Readonly<Record<string, string>>): URL {
  const asked = new URL(url);
  for (const [name, value] of Object.entries(members)) asked.searchParams.set(name, value);
  return asked;
}
