import { describe, expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import type { WritableStorage } from "../storage/storage.js";
import { DataFileWriter } from "./dataFileWriter.js";

const mebibyte = 1024 * 1024;

const piecesOf = (...pieces: Uint8Array[]) => ({ byteLength: pieces.reduce((sum, { length }) => sum + length, 0), pieces });

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);

/** A writer of files `0`, `1`, … in memory. */
function writerOf(longest: number, storage: WritableStorage = memoryStorage(), signal?: AbortSignal) {
  let files = 0;
  return { storage, writer: new DataFileWriter(storage, longest, () => `${files++}`, { signal }) };
}

/** A storage that forgets what it is given, and says how long each piece was. */
function forgetful() {
  const written: number[] = [];
  const storage: WritableStorage = {
    ...memoryStorage(),
    create: async () => ({ write: async ({ length }) => void written.push(length), close: async () => {}, abort: async () => {} }),
  };
  return { storage, written };
}

describe("DataFileWriter", () => {
  test("appends values and begins a file where one would be too long", async () => {
    const { storage, writer } = writerOf(10);
    const places = [];
    for (const length of [4, 6, 1, 30, 0, 9, 2]) places.push(await writer.append(piecesOf(filled(length, length))));
    expect(writer.byteLength).toBe(52);
    await writer.close();
    await writer.close();
    expect(places).toEqual([
      { path: "0", offset: 0, length: 4 },
      { path: "0", offset: 4, length: 6 },
      { path: "1", offset: 0, length: 1 },
      { path: "2", offset: 0, length: 30 },
      { path: "3", offset: 0, length: 0 },
      { path: "3", offset: 0, length: 9 },
      { path: "4", offset: 0, length: 2 },
    ]);
    expect(writer.byteLength).toBe(52);
    for (const { path, offset, length } of places) {
      expect(await storage.read(path, { range: { offset, length } })).toEqual(filled(length, length));
    }
  });

  test("makes no file of nothing", async () => {
    const { storage, writer } = writerOf(10);
    await writer.close();
    expect(await storage.list("")).toEqual({ files: [], directories: [] });
  });

  test("gathers small pieces, and hands large ones on as they are", async () => {
    const { storage, written } = forgetful();
    const { writer } = writerOf(2 ** 40, storage);
    for (let round = 0; round < 300; round++) await writer.append(piecesOf(filled(10_000, 1)));
    await writer.append(piecesOf(filled(3 * mebibyte, 1), filled(10, 1), filled(0, 1), filled(mebibyte, 1)));
    await writer.close();
    expect(written).toEqual([1_040_000, 1_040_000, 920_000, 3 * mebibyte, 10, mebibyte]);
  });

  test("holds one piece of a value, however long that is", async () => {
    const { storage, written } = forgetful();
    const { writer } = writerOf(2 ** 40, storage);
    const piece = new Uint8Array(mebibyte);
    function* pieces() {
      for (let count = 0; count < 3 * 1024; count++) yield piece;
    }
    expect(await writer.append({ byteLength: 3 * 1024 * mebibyte, pieces: pieces() })).toMatchObject({ length: 3 * 1024 * mebibyte });
    await writer.close();
    expect(written).toEqual(new Array(3 * 1024).fill(mebibyte));
  });

  test("refuses values of another length than they should have", async () => {
    const short = writerOf(100).writer.append({ byteLength: 5, pieces: [filled(4, 1)] });
    await expect(short).rejects.toThrow("a value of 5 bytes came in pieces of 4 together");
    const long = writerOf(100).writer.append({ byteLength: 5, pieces: [filled(4, 1), filled(2, 1)] });
    await expect(long).rejects.toThrow(RangeError);
  });

  test("leaves full files when it is given up, and nothing of the last one", async () => {
    const { storage, writer } = writerOf(10);
    await writer.append(piecesOf(filled(10, 1)));
    await writer.append(piecesOf(filled(5, 2)));
    await writer.abort();
    await writer.abort();
    expect(await storage.list("")).toEqual({ files: ["0"], directories: [] });
  });

  test("ends a value's pieces when it fails", async () => {
    const controller = new AbortController();
    const { writer } = writerOf(10, memoryStorage(), controller.signal);
    let ended = false;
    async function* pieces() {
      try {
        yield filled(mebibyte, 1);
        controller.abort(new Error("enough"));
        yield filled(mebibyte, 1);
      } finally {
        ended = true;
      }
    }
    await expect(writer.append({ byteLength: 2 * mebibyte, pieces: pieces() })).rejects.toThrow("enough");
    expect(ended).toBe(true);
  });
});
