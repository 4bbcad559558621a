import { expect, test } from "vitest";
import { WholeFiles } from "./wholeFiles.js";

test("keeps files within a limit, and lets go of the one that was unused longest", () => {
  const files = new WholeFiles(100);
  for (const path of ["a", "b", "c"]) files.keep(path, new Uint8Array(30));
  expect(files.get("a")).toHaveLength(30);
  files.keep("d", new Uint8Array(30));
  expect(["a", "b", "c", "d"].map((path) => files.get(path) !== undefined)).toEqual([true, false, true, true]);
  expect(files.byteLength).toBe(90);
});

test("a newer file takes the place of the older, and one over the limit none", () => {
  const files = new WholeFiles(100);
  files.keep("a", new Uint8Array(60));
  files.keep("a", new Uint8Array(70));
  expect(files.byteLength).toBe(70);
  files.keep("b", new Uint8Array(101));
  expect([files.get("a")?.byteLength, files.get("b")]).toEqual([70, undefined]);
});
