import { listsAs, refusesArgument, rejectsWith, same, sameBytes } from "./conformanceChecks.testing.js";
import { bytesOf, type ConformanceCase, conformanceFiles, invalidPaths, top } from "./conformanceFiles.testing.js";
import type { WritableStorage } from "./storage.js";

const enough = new Error("enough");
const first = bytesOf(300);

/** What every storage must do that can be written to; each needs a storage of its own. */
export const writeCases: readonly ConformanceCase<WritableStorage>[] = [
  {
    name: "writes, replaces and removes",
    async run(storage) {
      await storage.write("new/folder/file", first);
      sameBytes(await storage.read("new/folder/file"), first, "what was written");
      await storage.write("new/folder/file", first.subarray(1, 4));
      sameBytes(await storage.read("new/folder/file"), first.subarray(1, 4), "what was replaced");
      await listsAs(storage, "new/folder/", { files: ["file"], directories: [] });
      await storage.remove("new/folder/file");
      same(await storage.read("new/folder/file"), undefined, "what was removed");
      await storage.remove("run");
      same((await storage.list("")).directories.includes("run"), false, "whether the removed folder is there");
      sameBytes(await storage.read("runner/other"), conformanceFiles.get("runner/other"), "the neighbour");
      await storage.remove("never/was");
    },
  },
  {
    name: "what was read does not change with later writes, nor what was written with its source",
    async run(storage) {
      const source = first.slice();
      await storage.write("aliased", source);
      source.fill(0);
      const read = await storage.read("aliased");
      const part = await storage.read("aliased", { range: { offset: 10, length: 5 } });
      await storage.write("aliased", bytesOf(300).reverse());
      sameBytes(read, first, "what was read");
      sameBytes(part, first.subarray(10, 15), "a part that was read");
    },
  },
  {
    name: "writes and removals that must not be are refused",
    async run(storage) {
      for (const path of invalidPaths) {
        await refusesArgument(storage.write(path, first), `a write to ${JSON.stringify(path)}`);
        await refusesArgument(storage.remove(path), `a removal of ${JSON.stringify(path)}`);
      }
      const signal = AbortSignal.abort(enough);
      await rejectsWith(storage.write("late", first, { signal }), enough, "a write");
      await rejectsWith(storage.remove("top.bin", { signal }), enough, "a removal");
      same(await storage.read("late"), undefined, "what was not written");
      sameBytes(await storage.read("top.bin"), top, "what was not removed");
    },
  },
];
