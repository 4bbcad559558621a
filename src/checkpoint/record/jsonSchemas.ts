import * as z from "zod/mini";
import { isJsonObject, JsonFloat, type JsonObject, type JsonValue, setMember } from "../../bytes/json.js";
import { CheckpointValidationError } from "../../errors.js";
import { untagged } from "./untagged.js";

/** An integer; a JSON float is none, however whole: pydantic refuses 1.0 for an int. */
export const integer = z.pipe(
  z.custom<number | bigint>((value) => typeof value === "bigint" || Number.isInteger(value), { error: "expected an integer" }),
  z.transform(Number),
);

/** Any JSON number, NaN and infinities included, which zod's own number refuses. */
export const float = z.pipe(
  z.custom<number | bigint | JsonFloat>((value) => typeof value === "number" || typeof value === "bigint" || value instanceof JsonFloat, {
    error: "expected a number",
  }),
  z.transform((value) => (value instanceof JsonFloat ? value.value : Number(value))),
);

/** Problems of one object or list after which no more are looked for: a million take zod seconds, and more stack than there is. */
const mostIssues = 100;

/** A JSON object's members, all of one type; unlike zod's own record it keeps a member named `__proto__`. */
export const membersOf = <Member>(member: z.ZodMiniType<Member, unknown>) =>
  z.pipe(
    z.custom<JsonObject>((value) => isJsonObject(value as JsonValue), { error: "expected an object" }),
    z.transform((object, context) => {
      const members: Record<string, Member> = {};
      for (const [key, value] of Object.entries(object)) {
        const result = member.safeParse(value);
        if (result.success) setMember(members, key, result.data);
        else context.issues.push(...below(key, value, result.error.issues));
        if (context.issues.length >= mostIssues) break;
      }
      return members;
    }),
  );

/** The elements of a JSON list, all of one type. */
export const listOf = <Element>(element: z.ZodMiniType<Element, unknown>) =>
  z.pipe(
    z.custom<readonly JsonValue[]>((value) => Array.isArray(value), { error: "expected a list" }),
    z.transform((list, context) => {
      const elements: Element[] = [];
      for (const [index, value] of list.entries()) {
        const result = element.safeParse(value);
        if (result.success) elements.push(result.data);
        else context.issues.push(...below(index, value, result.error.issues));
        if (context.issues.length >= mostIssues) break;
      }
      return elements;
    }),
  );

const below = (key: string | number, input: unknown, issues: readonly z.core.$ZodIssue[]) =>
  issues.slice(0, mostIssues).map((issue) => ({ ...issue, path: [key, ...issue.path], input }) as never);

/** Any JSON value, with floats as plain numbers. */
export const anyJson = z.pipe(
  z.custom<JsonValue>((value) => value !== undefined),
  z.transform(untagged),
);

/** @throws CheckpointValidationError listing every problem with its path. */
export function validate<Value>(schema: z.ZodMiniType<Value, unknown>, payload: unknown, what: string): Value {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  throw new CheckpointValidationError(
    what,
    result.error.issues.map((issue) => ({ path: issue.path, code: issue.code ?? "custom", message: messageOf(issue) })),
    { cause: result.error },
  );
}

// zod/mini carries no texts of its own unless a page loads a locale for all its users.
const messageOf = (issue: z.core.$ZodIssue): string =>
  issue.code === "invalid_type" ? `expected ${aOrAn(issue.expected)}` : issue.message;

const aOrAn = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
