import fc from "fast-check";
import { expect, test } from "vitest";
import { keyBytes } from "./keyBytes.js";

test("gives UTF-8, of ASCII and of other texts, as an encoder does", () => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("", "tree.w/.zarray", "é/0", "a\ud800"));
  fc.assert(
    fc.property(texts, (text) => {
      expect(keyBytes(text)).toEqual(new TextEncoder().encode(text));
    }),
  );
});

test("takes no more memory for a key that is too long to be stored", () => {
  for (const letter of ["a", "é"]) {
    const bytes = keyBytes(letter.repeat(1e6));
    expect(bytes.length).toBeGreaterThan(65535);
    expect(bytes.length).toBeLessThan(200_000);
  }
});
