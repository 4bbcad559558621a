/** Shortest part of a query that is taken for a secret: shorter ones are switches. */
const shortest = 4;

/** What of a URL nobody but its server should see: signatures, keys and tokens stand in queries. */
export const secretsOf = ({ search, searchParams }: URL): string[] =>
  [search, ...searchParams.values()].filter((text) => text.length >= shortest);

/** The cause of a failure; another in its place where it, or what it holds, repeats a secret: a caller's own `fetch` may throw anything. */
export function withoutSecrets(cause: unknown, secrets: readonly string[]): unknown {
  const wanted = secrets.filter((secret) => secret !== "");
  const isSecret = wanted.length > 0 && [...textsIn(cause)].some((text) => wanted.some((secret) => text.includes(secret)));
  return isSecret ? new Error("left out: it holds credentials, or the query of a URL") : cause;
}

const deepest = 6;
const mostTexts = 10_000;

/** The texts in a value, as deep as an error and its causes go. */
function* textsIn(value: unknown): Generator<string> {
  const seen = new Set<unknown>();
  let left = [value];
  for (let depth = 0; depth < deepest && left.length > 0; depth += 1) {
    const inner: unknown[] = [];
    for (const part of left) {
      if (typeof part === "string") yield part;
      if (typeof part !== "object" || part === null || seen.has(part) || seen.size > mostTexts) continue;
      seen.add(part);
      inner.push(...membersOf(part));
    }
    left = inner;
  }
}

function membersOf(value: object): unknown[] {
  if (ArrayBuffer.isView(value)) return [];
  if (value instanceof Headers || value instanceof Map) return [...value.entries()].flat();
  const { name, message, stack, cause } = value as Partial<Error>;
  // Not only those that can be enumerated: an AggregateError's errors cannot.
  return [name, message, stack, cause, ...Object.values(Object.getOwnPropertyDescriptors(value)).map((member) => member.value)];
}
