import { encodedPart } from "../http/target.js";
import type { ApiPage, ApiReader } from "./apiPage.js";
import { jsonOf, membersOf } from "./jsonAnswer.js";
import type { HostText } from "./readText.js";

/** Hugging Face's tree of a repository at a revision, in JSON. */
export const huggingFaceReader = (tree: URL): ApiReader => ({
  firstPage(prefix) {
    const url = new URL(tree);
    for (const part of prefix.split("/").slice(0, -1)) url.pathname += `/${encodedPart(part)}`;
    return url;
  },
  parse: parseTree,
  absent: "folder",
});

function parseTree({ text, headers, url }: HostText): ApiPage | undefined {
  const entries = jsonOf(text);
  if (!Array.isArray(entries)) return undefined;
  const keys = entries.map((entry) => {
    const { path, type } = membersOf(entry) ?? {};
    return type === "directory" ? `${path}/` : path;
  });
  return keys.every((key) => typeof key === "string") ? { keys, next: nextLink(headers.get("link"), url) } : undefined;
}

/** Where a Link header says that the list goes on (RFC 8288). */
function nextLink(header: string | null, url: URL): URL | undefined {
  for (const [, target = "", parameters = ""] of (header ?? "").matchAll(/<([^<>]*)>([^<>]*)/g)) {
    if (/;\s*rel\s*=\s*"?next\b/i.test(parameters) && URL.canParse(target, url)) return new URL(target, url);
  }
  return undefined;
}
