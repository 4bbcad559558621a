import { expect, test } from "vitest";
import { formatPartialName, isPartialName, partialOwner } from "./partialName.js";

test("a partial file's name tells its owner, and no other file has such a name", () => {
  expect(formatPartialName("me-1", 7)).toBe(".me-1.7.partial");
  expect(partialOwner(".me-1.7.partial")).toBe("me-1");
  for (const name of [".partial", ".a.partial", "a.b.c.partial", ".a.b.c.partial", ".a.1.part", "me.1.partial", ""])
    expect(isPartialName(name), name).toBe(false);
});
