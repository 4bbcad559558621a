import { isLfsPointer } from "../lfsPointer.js";

/** Something that a server sends instead of a file. */
export type Impostor = "html" | "lfs" | "xml" | "json";

/** Bytes of a file's beginning that {@link sniff} looks at. */
export const sniffLength = 1024;

/**
 * What the beginning of a file really is, or `undefined` where it may be the file. The media type must agree, because a
 * data file may begin with any bytes; without one a page is known by its text where no array's elements are asked for, and a Git LFS pointer
 * always is.
 */
export function sniff(head: Uint8Array, contentType: string | null, path: string): Impostor | undefined {
  if (isLfsPointer(head)) return "lfs";
  const text = new TextDecoder().decode(head.subarray(0, sniffLength)).trimStart();
  const type = contentType?.toLowerCase() ?? "";
  if ((type.includes("html") || (type === "" && !mayHoldElements(path))) && /^<(!doctype|html|head|body|title|meta|script|!--)/i.test(text))
    return "html";
  if (type.includes("xml") && /^<(\?xml|error\b)/i.test(text)) return "xml";
  if (type.includes("json") && isBinary(path) && /^[{[]/.test(text)) return "json";
  return undefined;
}

/** Whether an answer of this media type deserves a look at its beginning. */
export const isDocumentType = (contentType: string | null): boolean => /html|xml/i.test(contentType ?? "");

/** What to tell the user. */
export const impostorMessages: Readonly<Record<Impostor, string>> = {
  html: "the server answered with an HTML page instead of the file; use the address of the raw files, not of a page that shows them, and check that the file is there and needs no sign-in",
  lfs: "the server has a Git LFS pointer instead of the file; run `git lfs pull` before serving, or use the host's address for LFS content (such as /resolve/ on Hugging Face, media.githubusercontent.com)",
  xml: "the server answered with an XML document, most likely an error of an object store, instead of the file; open the address to read it, then check bucket, path and rights",
  json: "the server answered with JSON, most likely an error, instead of the file; open the address to read it, then check path and rights",
};

// OCDBT's data files, and chunks that are files of their own: `0.0`, `c/0/0`.
const mayHoldElements = (path: string) => /(^|\/)(d\/[0-9a-f]{32}|c|[0-9.]+)$/.test(path);

// OCDBT's own files, which are never text: the manifest, and data files named by 32 hexadecimal digits.
const isBinary = (path: string) => /(^|\/)(manifest\.ocdbt|d\/[0-9a-f]{32})$/.test(path);
