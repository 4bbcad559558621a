import { expect, it } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { openCheckpoint } from "../openCheckpoint.js";

const length = 17 * 1024 * 1024;
const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
const zarray = {
  zarr_format: 2,
  shape: [length],
  chunks: [length],
  dtype: "|u1",
  compressor: null,
  fill_value: 0,
  order: "C",
  filters: null,
};
const files = { ".zarray": new TextEncoder().encode(JSON.stringify(zarray)), "0": bytes };

/** A place that notes how many bytes of its chunk each read asks for; `undefined` for all. */
function noted({ hasSize }: { readonly hasSize: boolean }) {
  const { read, list, size } = memoryStorage(files);
  const reads: (number | undefined)[] = [];
  const storage: ReadableStorage = {
    list,
    ...(hasSize && size && { size }),
    read: (path, options) => {
      if (path === "0") reads.push(options?.range?.length);
      return read(path, options);
    },
  };
  return { storage, reads };
}

it.each([
  ["in pieces where the place tells how long it is", true],
  ["whole where it does not", false],
])("a long chunk in a file of its own is read %s", async (_, hasSize) => {
  const { storage, reads } = noted({ hasSize });
  const opened = await openCheckpoint(storage);
  reads.length = 0;
  const array = await opened.read("");
  expect(Buffer.compare(array.data as Uint8Array, bytes)).toBe(0);
  if (hasSize) expect(Math.max(...reads.map((read) => read ?? length))).toBeLessThanOrEqual(1024 * 1024);
  else expect(reads).toEqual([undefined]);
});
