import { describe, expect, it } from "vitest";
import { StorageError } from "../../errors.js";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage } from "../../storage/storage.js";
import { Explorer } from "./explorer.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const files = { _METADATA: bytes("{}"), checkpoint: bytes("large"), "default/_METADATA": bytes("{}"), "empty/checkpoint": bytes("") };
const likely = ["_METADATA", "manifest.ocdbt", "checkpoint", "default/_METADATA"];

interface Watched extends ReadableStorage {
  readonly asked: string[];
}

/** The files in a place that notes what it is asked for. */
function watched(list: "lists" | "cannot list" | "is forbidden", read: "reads" | "fails where absent" | "fails" = "reads"): Watched {
  const storage = memoryStorage(files);
  const asked: string[] = [];
  const failure = (reason: "cannot-list" | "status" | "network") => new StorageError({ path: "", reason, message: reason });
  return {
    asked,
    async list(prefix) {
      asked.push(`list ${prefix}`);
      if (list === "lists") return storage.list(prefix);
      throw failure(list === "cannot list" ? "cannot-list" : "status");
    },
    async read(path, options) {
      asked.push(options?.range === undefined ? path : `${path} ${options.range.offset}+${options.range.length}`);
      const found = read === "fails" ? undefined : await storage.read(path, options);
      if (found === undefined && read !== "reads") throw failure("network");
      return found;
    },
  };
}

describe("an explorer", () => {
  it("lists, once each folder", async () => {
    const place = watched("lists");
    const explorer = new Explorer(place, {});
    const folder = await explorer.look("", likely);
    expect(folder).toEqual({ files: new Set(["_METADATA", "checkpoint"]), directories: new Set(["default", "empty"]), isListed: true });
    await explorer.look("", likely);
    await explorer.look("default", likely);
    expect(place.asked).toEqual(["list ", "list default/"]);
  });

  it("overlooks what other programs leave in folders", async () => {
    const foreign = [".DS_Store", "._1", "__MACOSX/._1", "Thumbs.db", "1_$folder$", ".git/HEAD", ".cache/x", "@eaDir/x", "lost+found/x"];
    const place = memoryStorage(Object.fromEntries([...foreign, "1/.DS_Store", "1/default/_METADATA"].map((path) => [path, bytes("")])));
    const explorer = new Explorer(place, {});
    expect(await explorer.look("", [])).toEqual({ files: new Set(), directories: new Set(["1"]), isListed: true });
    expect((await explorer.look("1", [])).files.size).toBe(0);
  });

  it.each([
    ["an item", ["checkpoint/_METADATA", "config/metadata"], true],
    ["an array", ["checkpoint/.zarray", "checkpoint/0.0", "_sharding"], undefined],
    ["an array whose listing leaves out files that begin with a dot", ["checkpoint/0.0"], undefined],
  ] as const)("tells whether the folder checkpoint is %s", async (_, paths, isItem) => {
    const { read, list } = memoryStorage(Object.fromEntries(paths.map((path) => [path, bytes("")])));
    expect((await new Explorer({ read, list }, {}).look("", [])).hasCheckpointItem).toBe(isItem);
    const unlisted = new Explorer({ read, list: watched("cannot list").list }, {});
    expect((await unlisted.look("", paths)).hasCheckpointItem).toBe(isItem);
  });

  it.each(["cannot list", "is forbidden"] as const)(
    "asks for likely files where the place %s, and for a byte of what may be large",
    async (how) => {
      const place = watched(how);
      const explorer = new Explorer(place, {});
      const found = { files: new Set(["_METADATA", "checkpoint"]), directories: new Set(["default"]), isListed: false };
      expect(await explorer.look("", likely)).toEqual(found);
      expect(await explorer.look("", likely)).toEqual(found);
      expect(place.asked).toEqual(["list ", "_METADATA", "manifest.ocdbt", "checkpoint 0+1", "default/_METADATA"]);
      expect(explorer.whyUnlisted?.message).toMatch(/cannot-list|status/);
    },
  );

  it("takes a file without bytes for one", async () => {
    expect((await new Explorer(watched("cannot list"), {}).look("empty", ["checkpoint"])).files).toEqual(new Set(["checkpoint"]));
  });

  it("does not ask again for what it has read, until that is forgotten", async () => {
    const place = watched("cannot list");
    const explorer = new Explorer(place, {});
    await explorer.look("", ["_METADATA"]);
    const before = place.asked.length;
    expect(await explorer.storage.read("_METADATA")).toEqual(files._METADATA);
    expect(place.asked.length).toBe(before);
    await explorer.storage.read("_METADATA", { range: { offset: 0, length: 1 } });
    explorer.forget();
    await explorer.storage.read("_METADATA");
    expect(place.asked.slice(before)).toEqual(["_METADATA 0+1", "_METADATA"]);
  });

  it("does without what fails where something is found, as absent files do behind CORS", async () => {
    const explorer = new Explorer(watched("cannot list", "fails where absent"), {});
    expect((await explorer.look("", likely)).files).toEqual(new Set(["_METADATA", "checkpoint"]));
    await expect(new Explorer(watched("cannot list", "fails"), {}).look("", likely)).rejects.toMatchObject({ reason: "network" });
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const explorer = new Explorer(watched("cannot list"), { signal: stop.signal });
    const looking = explorer.look("", likely);
    stop.abort(new Error("enough"));
    await expect(looking).rejects.toThrow("enough");
  });
});
