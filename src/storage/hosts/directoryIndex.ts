import { listingOf } from "../listing.js";
import type { StorageListing } from "../storage.js";
import { withoutEntities } from "./entities.js";

/**
 * The entries of a directory page, as `python -m http.server`, nginx, Apache and their like print it, or of the JSON that nginx, Caddy and
 * npm's serve print; `undefined` where it is another document, or does not tell folders from files (Express's serve-index). Links to
 * elsewhere and to other orders of the page are left out.
 */
export function parseDirectoryIndex(text: string, contentType: string | null, url: URL): StorageListing | undefined {
  const names = /json/i.test(contentType ?? "") ? namesInJson(text) : namesInHtml(text, url);
  return names && listingOf(names, "");
}

// Neither may look beyond the next tag: a page of unclosed ones would take forever.
const headings = /<(title|h1)[^<>]*>\s*(index of|directory listing|files within)\b/i;
const links = /<a\s[^<>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;

function namesInHtml(html: string, url: URL): string[] | undefined {
  if (!headings.test(html)) return undefined;
  const folder = decoded(url.pathname);
  const names: string[] = [];
  for (const [, double, single, bare] of html.matchAll(links)) {
    const name = nameOf(withoutEntities(double ?? single ?? bare ?? ""), url, folder);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** The entry that a link leads to, with a slash where it is a directory; `undefined` for links to anything but a direct entry. */
function nameOf(href: string, url: URL, folder: string | undefined): string | undefined {
  if (href === "" || !URL.canParse(href, url)) return undefined;
  const target = new URL(href, url);
  if (target.origin !== url.origin || target.search !== "" || target.hash !== "") return undefined;
  const path = decoded(target.pathname);
  if (path === undefined || folder === undefined || !path.startsWith(folder)) return undefined;
  return entryName(path.slice(folder.length));
}

function namesInJson(text: string): string[] | undefined {
  const entries = entriesOf(parsed(text));
  const names = Array.isArray(entries) ? entries.map(nameInJson) : [undefined];
  // A list of something else, or of mere names, would otherwise look like a folder without steps.
  return names.includes(undefined) ? undefined : names.map((name = "") => entryName(name)).filter((name) => name !== undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** npm's serve puts them into a member. */
const entriesOf = (document: unknown): unknown =>
  typeof document === "object" && document !== null && "files" in document ? document.files : document;

/** The name, with a slash where it is a directory; `undefined` for what is no entry. */
function nameInJson(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { base, name, type, is_dir: isFolder } = entry as Readonly<Record<string, unknown>>;
  // npm's serve has the name with its extension in `base`.
  const given = base ?? name;
  if (typeof given !== "string") return undefined;
  return (type === "directory" || isFolder === true) && !given.endsWith("/") ? `${given}/` : given;
}

const entryName = (name: string) => (/^(?!\.{1,2}\/?$)[^/]+\/?$/.test(name) ? name : undefined);

function decoded(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}
