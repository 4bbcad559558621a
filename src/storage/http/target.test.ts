import { expect, test } from "vitest";
import { parseBase, targetOf } from "./target.js";

test("a folder's URL gets its slash, and loses user, password and fragment", () => {
  const base = parseBase("https://me:pass%20word@example.org/a%20b/run?token=1#x");
  expect(base.url.href).toBe("https://example.org/a%20b/run/?token=1");
  expect(base.label).toBe("https://example.org/a%20b/run/");
  expect(base.authorization).toBe(`Basic ${btoa("me:pass word")}`);
  expect(parseBase(new URL("http://example.org")).url.href).toBe("http://example.org/");
  expect(parseBase("http://example.org").authorization).toBeUndefined();
});

test("a password with a bare percent sign is taken as it is", () => {
  expect(parseBase("https://me:100%@example.org").authorization).toBe(`Basic ${btoa("me:100%")}`);
});

test("every part of a path is encoded, and the query stays", () => {
  const base = parseBase("https://example.org/run?sig=a%2Fb");
  const target = targetOf(base, "ä/%41/#?/a b");
  expect(target.url.href).toBe("https://example.org/run/%C3%A4/%2541/%23%3F/a%20b?sig=a%2Fb");
  expect(target.label).toBe("https://example.org/run/%C3%A4/%2541/%23%3F/a%20b");
  expect(targetOf(base, "x/").url.pathname).toBe("/run/x/");
  expect(targetOf(base, "").url.href).toBe("https://example.org/run/?sig=a%2Fb");
  expect(base.url.pathname).toBe("/run/");
});

test("half a surrogate pair has no encoding", () => {
  expect(() => targetOf(parseBase("https://example.org"), "\ud800")).toThrow(/surrogate/);
});
