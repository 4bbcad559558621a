import { expect, test } from "vitest";
import type { ByteRange } from "../bytes/ranges.js";
import { FileWindow } from "./fileWindow.js";
import { memoryStorage } from "./memory.js";

const file = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251);

/** A window on the file, and the ranges that it read. */
function opened(bytes?: Uint8Array) {
  const ranges: ByteRange[] = [];
  const storage = memoryStorage({ file });
  const watched = {
    ...storage,
    read: (path: string, options: { readonly range?: ByteRange | undefined } = {}) => {
      if (options.range !== undefined) ranges.push(options.range);
      return storage.read(path, options);
    },
  };
  return { window: new FileWindow(watched, "file", file.length, {}, bytes), ranges };
}

test("windows grow where bytes are read on, and are short after a jump", async () => {
  const { window, ranges } = opened();
  for (let index = 0; index < 100_000; index++) {
    if (!window.has(1)) await window.fill(1);
    const byte = window.peek();
    if (byte !== index % 251 || window.take(1)[0] !== byte) throw new Error(`byte ${index} is ${byte}`);
  }
  window.skip(2_000_000);
  await window.fill(10);
  expect([...window.take(10)]).toEqual([...file.subarray(2_100_000, 2_100_010)]);
  expect(ranges.map(({ length }) => length)).toEqual([8192, 16384, 32768, 65536, 4096]);
  expect(window.position).toBe(2_100_010);
  expect(window.remaining).toBe(899_990);
});

test("more than a window at once, up to the last byte", async () => {
  const { window, ranges } = opened();
  await window.fill(file.length);
  expect(Buffer.compare(window.take(file.length), file)).toBe(0);
  await window.fill(0);
  expect(ranges).toHaveLength(1);
});

test("bytes that were read before are not read again", async () => {
  const { window, ranges } = opened(file.subarray(0, 100));
  expect(window.has(100)).toBe(true);
  window.take(100);
  await window.fill(1);
  expect(ranges).toEqual([{ offset: 100, length: 8192 }]);
});

test("nothing is beyond the end, and what is gone is told", async () => {
  const { window } = opened();
  await expect(window.fill(file.length + 1)).rejects.toMatchObject({ name: "CorruptCheckpointError", path: "file", offset: 0 });
  expect(() => window.skip(file.length + 1)).toThrow("the end after 3000000");
  const gone = new FileWindow(memoryStorage(), "file", 10, {});
  await expect(gone.fill(1)).rejects.toMatchObject({ path: "file", received: "no such file" });
});

test("an abort stops a read", async () => {
  const window = new FileWindow(memoryStorage({ file }), "file", file.length, { signal: AbortSignal.abort(new Error("stop")) });
  await expect(window.fill(1)).rejects.toThrow("stop");
});
