import { expect, test } from "vitest";
import { fileTooLong, sliceOf } from "./lengthError.js";

test("gives a view, or says how long the file is", () => {
  const file = Uint8Array.of(1, 2, 3);
  expect(sliceOf("x", file, { offset: 1, length: 2 }).buffer).toBe(file.buffer);
  expect(() => sliceOf("x", file, { offset: 1, length: 3 }, "https://example.org/x")).toThrow(
    "https://example.org/x: the file has 3 bytes, but bytes 1 to 4 were asked for",
  );
});

test("says how long a file may be", () => {
  expect(fileTooLong("x", 10)).toMatchObject({ name: "StorageError", reason: "length", path: "x" });
  expect(fileTooLong("x", 10).message).toContain("more than the 10 bytes");
});
