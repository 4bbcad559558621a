import type { FileFacts } from "./storage.js";

/** How two versions of a file differ, in words; undefined where nothing shows that they do. */
export function factsDifference(first: FileFacts, second: FileFacts): string | undefined {
  if (differs(first.size, second.size)) return `${first.size} bytes, then ${second.size}`;
  if (differs(first.etag, second.etag)) return `ETag ${first.etag}, then ${second.etag}`;
  // Machines that share one ETag may still have written the file at different times.
  if (first.etag !== undefined && second.etag !== undefined) return undefined;
  return differs(first.modified, second.modified) ? `last modified ${first.modified}, then ${second.modified}` : undefined;
}

const differs = (a: string | number | undefined, b: string | number | undefined) => a !== undefined && b !== undefined && a !== b;

/** What both tell of one version. */
export const joinFacts = (first: FileFacts, second: FileFacts): FileFacts => ({
  etag: first.etag ?? second.etag,
  modified: first.modified ?? second.modified,
  size: first.size ?? second.size,
});
