import { listsAs, rejectsWith, same, sameBytes } from "./conformanceChecks.testing.js";
import { bytesOf, type ConformanceCase, conformanceFiles, large, top } from "./conformanceFiles.testing.js";
import type { ConformanceTraits } from "./conformanceReads.testing.js";
import type { WritableStorage } from "./storage.js";

const enough = new Error("enough");
const piece = bytesOf(1000);

/** What every storage must do with files that are written piece by piece. */
export const writerCases = ({ beginsEmpty = false }: ConformanceTraits): readonly ConformanceCase<WritableStorage>[] => [
  {
    name: "pieces become a file when it is closed, and not before",
    async run(storage) {
      const writer = await storage.create("run/note");
      const lengths = [3, 0, 1_200_000, 1, 900_000, large.length - 2_100_004];
      let at = 0;
      for (const length of lengths) {
        await writer.write(large.subarray(at, at + length));
        at += length;
        sameBytes(await storage.read("run/note"), conformanceFiles.get("run/note"), "what stood there");
      }
      await writer.close();
      await writer.abort();
      sameBytes(await storage.read("run/note"), large, "the file");
      await listsAs(storage, "run/", { files: ["note"], directories: ["10", "2"] });
    },
  },
  {
    name: "thousands of small pieces are one file",
    async run(storage) {
      const writer = await storage.create("small");
      for (let at = 0; at < 300_000; at += 100) await writer.write(large.subarray(at, at + 100));
      await writer.close();
      sameBytes(await storage.read("small"), large.subarray(0, 300_000), "the file");
    },
  },
  {
    name: "a new file comes with its folders, and a file of no pieces is empty",
    async run(storage) {
      const writer = await storage.create("new/folder 漢字/100%");
      await writer.write(new Uint8Array());
      const meanwhile = await storage.read("new/folder 漢字/100%");
      same(meanwhile?.length, beginsEmpty ? 0 : undefined, "the length of a file that is being written");
      await writer.close();
      sameBytes(await storage.read("new/folder 漢字/100%"), new Uint8Array(), "the file");
    },
  },
  {
    name: "memory of a piece may be used again once it is written",
    async run(storage) {
      const writer = await storage.create("again");
      const memory = new Uint8Array(1_500_000);
      for (let round = 1; round <= 3; round++) await writer.write(memory.fill(round));
      memory.fill(9);
      await writer.close();
      const read = (await storage.read("again")) ?? new Uint8Array();
      for (let round = 1; round <= 3; round++) {
        const part = read.subarray((round - 1) * memory.length, round * memory.length);
        sameBytes(part, memory.fill(round), `piece ${round}`);
      }
      same(read.length, 3 * memory.length, "the length");
    },
  },
  {
    name: "a file that is given up leaves what stood there, or nothing",
    async run(storage) {
      for (const path of ["top.bin", "never"]) {
        const writer = await storage.create(path);
        await writer.write(large);
        await writer.abort();
        await writer.abort();
      }
      sameBytes(await storage.read("top.bin"), top, "what stood there");
      await listsAs(storage, "", { files: ["empty", "top.bin"], directories: ["odd", "run", "runner"] });
    },
  },
  {
    name: "a file that is written in place is whole when it is closed, and given up has no more than its first bytes",
    async run(storage) {
      const writer = await storage.create("top.bin", { inPlace: true });
      for (const [start, end] of [[0, 700_000], [700_000, 700_001], [700_001]]) await writer.write(large.subarray(start, end));
      await writer.close();
      await writer.abort();
      sameBytes(await storage.read("top.bin"), large, "the file");
      const begun = await storage.create("new/begun", { inPlace: true });
      await begun.write(large.subarray(0, 1_000_000));
      await begun.abort();
      await begun.abort();
      const first = (await storage.read("new/begun")) ?? new Uint8Array();
      sameBytes(first, large.subarray(0, Math.min(first.length, 1_000_000)), "what was given up");
    },
  },
  {
    name: "files in pieces are written side by side",
    async run(storage) {
      const paths = ["a/1", "a/2", "b", "a/3", "a/b/4", "c/5"];
      const writers = await Promise.all(paths.map((path) => storage.create(path)));
      for (let round = 0; round < 3; round++)
        await Promise.all(writers.map((writer, index) => writer.write(piece.subarray(index, index + 900))));
      await Promise.all(writers.map((writer) => writer.close()));
      for (const [index, path] of paths.entries()) {
        const third = piece.subarray(index, index + 900);
        sameBytes(await storage.read(path), Uint8Array.from([...third, ...third, ...third]), path);
      }
    },
  },
  {
    name: "an abort stops writing and closing with the signal's reason",
    async run(storage) {
      const controller = new AbortController();
      const writer = await storage.create("late/file", { signal: controller.signal });
      await writer.write(piece);
      controller.abort(enough);
      await rejectsWith(writer.write(piece), enough, "a write");
      await rejectsWith(writer.close(), enough, "a close");
      await writer.abort();
      await listsAs(storage, "late/", { files: [], directories: [] });
    },
  },
];
