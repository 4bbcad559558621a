import { kindOf, type Rule, requireArgument } from "../../arguments.js";
import { CheckpointValueError } from "../../errors.js";

type HeadersByName = Readonly<Record<string, string>> | Headers;

/** Headers of each request, or a function that makes them, which may be async. */
export type HttpHeaders = HeadersByName | (() => HeadersByName | Promise<HeadersByName>);

/** Their values are secrets: errors tell names and kinds. */
const headersByName: Rule = {
  expected: 'an object of texts by header name, such as { authorization: "Bearer …" }',
  accepts: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

/** What may be given as {@link HttpHeaders}. */
export const someHeaders: Rule = {
  expected: `${headersByName.expected}, or a function that makes one`,
  accepts: (value) => typeof value === "function" || headersByName.accepts(value),
};

/**
 * The headers of one request.
 * @throws CheckpointValueError for what are none, and what the caller's function throws.
 */
export async function headersFrom(given: HttpHeaders): Promise<Readonly<Record<string, string>>> {
  const headers = typeof given === "function" ? await given() : given;
  requireArgument("what the function headers of httpStorage makes", headers, headersByName);
  // Headers of other realms, and other makes, are as good.
  const entries = Symbol.iterator in headers ? (headers as Iterable<[string, string]>) : Object.entries(headers);
  const byName: Record<string, string> = Object.fromEntries(entries);
  for (const [name, value] of Object.entries(byName))
    if (typeof value !== "string")
      throw new CheckpointValueError(`${placeOf(name)} in httpStorage's headers is a text, not ${kindOf(value)}`);
  return byName;
}

/** A copy of a request's headers with more of them. */
export function withHeaders(plain: Headers, more: Readonly<Record<string, string>>): Headers {
  const headers = new Headers({ accept: plain.get("accept") ?? "*/*" });
  for (const [name, value] of Object.entries(more)) setHeader(headers, name, value);
  const range = plain.get("range");
  if (range !== null) headers.set("range", range);
  return headers;
}

/** The platform's own error repeats the value. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new CheckpointValueError(
      `${placeOf(name)} in httpStorage's headers is none that a header may have; look for line breaks and non-Latin text`,
    );
  }
}

/** What is no name may be a value in its place. */
const placeOf = (name: string): string => (/^[\w-]{1,100}$/.test(name) ? `the value of ${name}` : "a name");
