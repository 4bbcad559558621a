import { expect, test } from "vitest";
import { folderName, lockName } from "./folderName.js";

test("names are short, plain and apart", () => {
  const texts = ["1200/model/_METADATA", "1200_model__METADATA", "1200/MODEL/_METADATA", "naïve/漢字", "\ud800", "x".repeat(1000), ".."];
  const names = texts.map(folderName);
  expect(names[0]).toMatch(/^1200_model__METADATA-[0-9a-f]{8}$/);
  expect(new Set(names).size).toBe(texts.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9._-]{1,89}$/);
  expect(lockName("a", 1)).not.toBe(lockName("a", 2));
});
