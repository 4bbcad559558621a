import { listsAs, refusesArgument, refusesStorage, rejectsWith, same, sameBytes } from "./conformanceChecks.testing.js";
import { bytesOf, type ConformanceCase, conformanceFiles, invalidPaths, large, names, top } from "./conformanceFiles.testing.js";
import type { ConformanceTraits } from "./conformanceReads.testing.js";
import { writerCases } from "./conformanceWriters.testing.js";
import type { WritableStorage } from "./storage.js";

const enough = new Error("enough");
const first = bytesOf(300);

const writes: readonly ConformanceCase<WritableStorage>[] = [
  {
    name: "writes, replaces and removes",
    async run(storage) {
      await storage.write("new/folder/file", first);
      sameBytes(await storage.read("new/folder/file"), first, "what was written");
      await storage.write("new/folder/file", first.subarray(1, 4));
      sameBytes(await storage.read("new/folder/file"), first.subarray(1, 4), "what was replaced");
      await storage.write("new/folder/none", new Uint8Array());
      sameBytes(await storage.read("new/folder/none"), new Uint8Array(), "a file of no bytes");
      await storage.write("new/folder/large", large);
      sameBytes(await storage.read("new/folder/large"), large, "a large file");
      await listsAs(storage, "new/folder/", { files: ["file", "large", "none"], directories: [] });
      await storage.remove("new/folder/file");
      same(await storage.read("new/folder/file"), undefined, "what was removed");
    },
  },
  {
    name: "removes a folder with all in it, and nothing beside it",
    async run(storage) {
      await storage.remove("run");
      await listsAs(storage, "", { files: ["empty", "top.bin"], directories: ["odd", "runner"] });
      await listsAs(storage, "run/10/", { files: [], directories: [] });
      sameBytes(await storage.read("runner/other"), conformanceFiles.get("runner/other"), "the neighbour");
      await storage.write("run/10/again", first);
      await listsAs(storage, "run/", { files: [], directories: ["10"] });
      for (const absent of ["never/was", "never", "top.bin/below", "run"]) await storage.remove(absent);
      sameBytes(await storage.read("top.bin"), top, "the file that is no folder");
    },
  },
  {
    name: "takes any name",
    async run(storage) {
      for (const name of names) {
        await storage.write(`taken/${name}/${name}`, first);
        await storage.move(`taken/${name}/${name}`, `taken/${name}/to ${name}`);
        sameBytes(await storage.read(`taken/${name}/to ${name}`), first, name);
        await listsAs(storage, `taken/${name}/`, { files: [`to ${name}`], directories: [] });
      }
      await listsAs(storage, "taken/", { files: [], directories: names });
      for (const name of names) await storage.remove(`taken/${name}`);
      await listsAs(storage, "taken/", { files: [], directories: [] });
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
    name: "files are written side by side, and one path twice",
    async run(storage) {
      const paths = ["side/a", "side/b", "side/deep/er/c", "side/deep/d"];
      await Promise.all(paths.map((path, index) => storage.write(path, first.subarray(index))));
      for (const [index, path] of paths.entries()) sameBytes(await storage.read(path), first.subarray(index), path);
      await Promise.all([1, 2, 3].map((index) => storage.write("side/twice", new Uint8Array(50_000 * index).fill(index))));
      const last = (await storage.read("side/twice")) ?? new Uint8Array();
      same([50_000, 100_000, 150_000].includes(last.byteLength), true, "whether it is one of the three");
      sameBytes(last, new Uint8Array(last.byteLength).fill(last.byteLength / 50_000), "whether it is only that");
      await listsAs(storage, "side/", { files: ["a", "b", "twice"], directories: ["deep"] });
    },
  },
];

const moves: readonly ConformanceCase<WritableStorage>[] = [
  {
    name: "moves a file: to another name, to a folder that is not there yet, in place of another",
    async run(storage) {
      await storage.move("top.bin", "moved.bin");
      await storage.move("moved.bin", "moved/far/away/top.bin");
      same(await storage.read("top.bin"), undefined, "what was moved");
      same(await storage.read("moved.bin"), undefined, "what was moved on");
      sameBytes(await storage.read("moved/far/away/top.bin"), top, "the moved file");
      await storage.move("moved/far/away/top.bin", "run/10/model/d/0a");
      sameBytes(await storage.read("run/10/model/d/0a"), top, "the replaced file");
      await listsAs(storage, "run/10/model/d/", { files: ["0a"], directories: [] });
      await listsAs(storage, "moved/far/away/", { files: [], directories: [] });
    },
  },
  {
    name: "a file that is moved to its own path stays",
    async run(storage) {
      await storage.move("top.bin", "top.bin");
      sameBytes(await storage.read("top.bin"), top, "the file");
    },
  },
  {
    name: "what is no file cannot be moved, and what was at the new path stays",
    async run(storage) {
      for (const from of ["nothing", "no/thing", "run", "run/10", "top.bin/below"])
        await refusesStorage(storage.move(from, "runner/other"), "io", `a move of ${from}`);
      await refusesStorage(storage.move("nothing", "nothing"), "io", "a move of nothing to itself");
      sameBytes(await storage.read("runner/other"), conformanceFiles.get("runner/other"), "the file at the new path");
    },
  },
  {
    name: "no file takes a folder's place, nor stands below a file",
    async run(storage) {
      for (const to of ["run", "run/10", "top.bin/below", "top.bin/far/below"]) {
        await refusesStorage(storage.move("run/note", to), "io", `a move to ${to}`);
        await refusesStorage(storage.write(to, first), "io", `a write to ${to}`);
      }
      sameBytes(await storage.read("run/note"), conformanceFiles.get("run/note"), "what was not moved");
      sameBytes(await storage.read("top.bin"), top, "the file that is no folder");
      sameBytes(await storage.read("run/10/_METADATA"), conformanceFiles.get("run/10/_METADATA"), "a file of the folder");
      await listsAs(storage, "", { files: ["empty", "top.bin"], directories: ["odd", "run", "runner"] });
    },
  },
];

const refusals: readonly ConformanceCase<WritableStorage>[] = [
  {
    name: "changes that must not be are refused",
    async run(storage) {
      for (const path of invalidPaths) {
        const what = JSON.stringify(path);
        await refusesArgument(storage.write(path, first), `a write to ${what}`);
        await refusesArgument(storage.create(path), `a beginning of ${what}`);
        await refusesArgument(storage.remove(path), `a removal of ${what}`);
        await refusesArgument(storage.move(path, "to"), `a move of ${what}`);
        await refusesArgument(storage.move("top.bin", path), `a move to ${what}`);
      }
      sameBytes(await storage.read("top.bin"), top, "what was not moved");
    },
  },
  {
    name: "changes nothing when aborted before",
    async run(storage) {
      const signal = AbortSignal.abort(enough);
      await rejectsWith(storage.write("late", first, { signal }), enough, "a write");
      await rejectsWith(storage.create("late", { signal }), enough, "a beginning");
      await rejectsWith(storage.remove("top.bin", { signal }), enough, "a removal");
      await rejectsWith(storage.move("top.bin", "late", { signal }), enough, "a move");
      same(await storage.read("late"), undefined, "what was not written");
      sameBytes(await storage.read("top.bin"), top, "what was not removed");
      await listsAs(storage, "", { files: ["empty", "top.bin"], directories: ["odd", "run", "runner"] });
    },
  },
];

/** What every storage must do that can be written to; each needs a storage of its own. */
export const writeCases = (traits: ConformanceTraits = {}): readonly ConformanceCase<WritableStorage>[] => [
  ...writes,
  ...moves,
  ...writerCases(traits),
  ...refusals,
];
