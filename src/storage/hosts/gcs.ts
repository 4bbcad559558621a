import { type ApiPage, type ApiReader, withQuery } from "./apiPage.js";
import { jsonOf, membersOf } from "./jsonAnswer.js";

/** Google Cloud Storage's list of objects, in JSON. */
export const gcsReader = (objects: URL): ApiReader => ({
  firstPage: (prefix) => withQuery(objects, { delimiter: "/", fields: "items(name),prefixes,nextPageToken", prefix }),
  parse: ({ text }) => parseObjects(jsonOf(text)),
  // What it answers to strangers in place of 403.
  unlisted: [401],
  absent: "place",
});

function parseObjects(answer: unknown): ApiPage | undefined {
  const members = membersOf(answer);
  if (members === undefined) return undefined;
  // What is empty is left out.
  const { items = [], prefixes = [], nextPageToken } = members;
  if (!Array.isArray(items) || !Array.isArray(prefixes)) return undefined;
  const keys = [...items.map((item) => membersOf(item)?.name), ...prefixes];
  if (!keys.every((key) => typeof key === "string")) return undefined;
  return { keys, next: typeof nextPageToken === "string" ? { pageToken: nextPageToken } : undefined };
}
