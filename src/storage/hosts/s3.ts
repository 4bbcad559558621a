import { type ApiPage, type ApiReader, withQuery } from "./apiPage.js";
import { withoutEntities } from "./entities.js";

/** ListObjectsV2, as S3 and its like answer it. */
export const s3Reader = (bucket: URL): ApiReader => ({
  // Keys may hold characters that XML cannot.
  firstPage: (prefix) => withQuery(bucket, { "list-type": "2", delimiter: "/", "encoding-type": "url", prefix }),
  parse: ({ text }) => parseListObjects(text),
  absent: "place",
});

/** A page of keys and common prefixes; undefined for another document. */
export function parseListObjects(xml: string): ApiPage | undefined {
  // Its end, too: of a document that was cut off nobody knows what is missing.
  if (!/<ListBucketResult[\s>]/.test(xml.slice(0, 1000)) || !xml.trimEnd().endsWith("</ListBucketResult>")) return undefined;
  const decode = textOf(xml, "EncodingType") === "url" ? formDecoded : (key: string) => key;
  const keys: string[] = [];
  for (const element of ["Contents", "CommonPrefixes"]) {
    for (const body of bodiesOf(xml, element)) {
      const key = textOf(body, element === "Contents" ? "Key" : "Prefix");
      if (key !== undefined) keys.push(decode(key));
    }
  }
  return { keys, next: textOf(xml, "IsTruncated") === "true" ? nextPage(xml, decode) : undefined };
}

/** What stands in the elements of a name; one look at each character, as a document made to be slow could have a million that never end. */
function* bodiesOf(xml: string, element: string): Generator<string> {
  const [opening, closing] = [`<${element}>`, `</${element}>`];
  for (let at = xml.indexOf(opening); at >= 0; at = xml.indexOf(opening, at)) {
    const end = xml.indexOf(closing, at);
    if (end < 0) return;
    yield xml.slice(at + opening.length, end);
    at = end;
  }
}

/** What asks for the next page; those that only know the first version of this API name a marker. Empty where neither is told. */
function nextPage(xml: string, decode: (key: string) => string): Readonly<Record<string, string>> {
  const token = textOf(xml, "NextContinuationToken");
  if (token !== undefined) return { "continuation-token": token };
  const marker = textOf(xml, "NextMarker");
  return marker === undefined ? {} : { marker: decode(marker) };
}

/** Text of the first element of a name that holds only text. */
function textOf(xml: string, element: string): string | undefined {
  const start = xml.indexOf(`<${element}>`);
  if (start < 0) return undefined;
  const from = start + element.length + 2;
  const end = xml.indexOf("<", from);
  return xml.startsWith(`</${element}>`, end) ? withoutEntities(xml.slice(from, end)) : undefined;
}

/** As Java encodes forms: a plus is a blank. */
function formDecoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key;
  }
}
