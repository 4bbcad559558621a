import { expect, it } from "vitest";
import { CorruptCheckpointError, StorageError, UnsupportedCheckpointError } from "../../../errors.js";
import { packError, unpackError } from "./packError.js";

/** As it comes out of a message. */
const crossed = (error: unknown) => unpackError(structuredClone(packError(error)));

it.each([
  new CorruptCheckpointError({ path: "d/file", offset: 7, expected: "a zstd frame", received: "a damaged block" }),
  new CorruptCheckpointError({ path: "manifest.ocdbt", expected: "a manifest", received: "nothing" }),
  new StorageError({ path: "d/file", reason: "length", message: "the file ends at byte 7" }),
  new UnsupportedCheckpointError("d/file: dictionaries are not read"),
  new StorageError({ path: "", reason: "memory", message: "no memory left" }),
])("keeps class, fields and text of $name", (error) => {
  const received = crossed(error);
  expect(received.constructor).toBe(error.constructor);
  expect(received.message).toBe(error.message);
  expect({ ...received }).toEqual({ ...error });
});

it("gives anything else a type, and keeps its text", () => {
  expect(crossed(new RangeError("Array buffer allocation failed"))).toMatchObject({
    name: "StorageError",
    reason: "memory",
    message: "Array buffer allocation failed; restore fewer leaves at once",
  });
  for (const [error, text] of [
    [new TypeError("is not a function"), "TypeError: is not a function"],
    ["text", "text"],
  ]) {
    const message = `a worker failed unexpectedly (${text}); try again`;
    expect(crossed(error)).toMatchObject({ name: "StorageError", reason: "worker", message });
  }
});
