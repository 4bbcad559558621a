import { expect, test } from "vitest";
import { listingOf } from "./listing.js";

test("tells files from folders directly below a prefix", () => {
  const paths = ["b", "a/x", "a/y/z", "ab", "a"];
  expect(listingOf(paths, "")).toEqual({ files: ["a", "ab", "b"], directories: ["a"] });
  expect(listingOf(paths, "a/")).toEqual({ files: ["x"], directories: ["y"] });
  expect(listingOf(paths, "c/")).toEqual({ files: [], directories: [] });
});
