import { describe, expect, test } from "vitest";
import { createFile } from "./fileWriter.js";
import type { WritableStorage } from "./storage.js";

const bytesOf = (length: number, seed: number) => Uint8Array.from({ length }, (_, index) => index * 31 + seed);

/** What every storage must do with files that are written piece by piece; `make` gives an empty one. */
export function testFileWriters(name: string, make: () => Promise<WritableStorage>): void {
  describe(`${name}, files in pieces`, () => {
    test("pieces become a file when it is closed, and not before", async () => {
      const storage = await make();
      await storage.write("folder/file", bytesOf(5, 1));
      const pieces = [bytesOf(3, 2), bytesOf(0, 0), bytesOf(200_000, 3), bytesOf(1, 4)];
      const writer = await createFile(storage, "folder/file");
      for (const piece of pieces) {
        await writer.write(piece);
        expect(await storage.read("folder/file")).toEqual(bytesOf(5, 1));
      }
      await writer.close();
      await writer.abort();
      expect(Buffer.compare((await storage.read("folder/file")) ?? Buffer.of(), Buffer.concat(pieces))).toBe(0);
      expect(await storage.list("folder/")).toEqual({ files: ["file"], directories: [] });
    });

    test("folders come with the file, and a file of no pieces is empty", async () => {
      const storage = await make();
      await (await createFile(storage, "new/folder 漢字/100%")).close();
      expect(await storage.read("new/folder 漢字/100%")).toEqual(new Uint8Array());
    });

    test("memory of a piece may be used again once it is written", async () => {
      const storage = await make();
      const writer = await createFile(storage, "file");
      const piece = new Uint8Array(10);
      for (let round = 0; round < 3; round++) {
        piece.fill(round);
        await writer.write(piece);
      }
      piece.fill(9);
      await writer.close();
      expect(await storage.read("file")).toEqual(Uint8Array.from({ length: 30 }, (_, index) => Math.floor(index / 10)));
    });

    test("a file that is given up leaves what stood there, or nothing", async () => {
      const storage = await make();
      await storage.write("kept", bytesOf(5, 1));
      for (const path of ["kept", "never"]) {
        const writer = await createFile(storage, path);
        await writer.write(bytesOf(100, 2));
        await writer.abort();
        await writer.abort();
      }
      expect(await storage.read("kept")).toEqual(bytesOf(5, 1));
      expect(await storage.list("")).toEqual({ files: ["kept"], directories: [] });
    });

    test("files are written side by side", async () => {
      const storage = await make();
      const writers = await Promise.all(["a/1", "a/2", "b"].map((path) => createFile(storage, path)));
      for (let round = 0; round < 3; round++) await Promise.all(writers.map((writer, index) => writer.write(bytesOf(1000, index))));
      await Promise.all(writers.map((writer) => writer.close()));
      for (const [index, path] of ["a/1", "a/2", "b"].entries()) {
        const piece = bytesOf(1000, index);
        expect(Buffer.compare((await storage.read(path)) ?? Buffer.of(), Buffer.concat([piece, piece, piece])), path).toBe(0);
      }
    });

    test("what is no path is refused when the file begins, or ends", async () => {
      const storage = await make();
      for (const path of ["", "/top", "folder/", "a//b", "../x", "nul\0"]) {
        const written = async () => (await createFile(storage, path)).close();
        await expect(written(), path).rejects.toMatchObject({ name: "CheckpointValueError" });
      }
    });

    test("an abort stops beginning, writing and closing with the signal's reason", async () => {
      const storage = await make();
      const reason = new Error("enough");
      await expect(createFile(storage, "file", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
      const controller = new AbortController();
      const writer = await createFile(storage, "file", { signal: controller.signal });
      await writer.write(bytesOf(10, 1));
      controller.abort(reason);
      await expect(writer.write(bytesOf(10, 1))).rejects.toBe(reason);
      await expect(writer.close()).rejects.toBe(reason);
      await writer.abort();
      expect(await storage.list("")).toEqual({ files: [], directories: [] });
    });
  });
}
