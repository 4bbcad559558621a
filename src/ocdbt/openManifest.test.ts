import { expect, test } from "vitest";
import { StorageError } from "../errors.js";
import { memoryStorage } from "../storage/memory.js";
import { counted, database, opened } from "./databases.testing.js";
import { openOcdbt } from "./open.js";

test("of numbered manifests the latest is read", async () => {
  const { storage, reads } = counted(memoryStorage(database("numbered")));
  await opened(storage);
  expect(reads).toEqual(["manifest.ocdbt", "manifest.0000000000000015"]);
});

test("a storage that cannot list cannot tell which is the latest", async () => {
  const files = memoryStorage(database("numbered"));
  const refusal = new StorageError({ path: "", reason: "cannot-list", message: "nothing to list" });
  await expect(openOcdbt({ ...files, list: () => Promise.reject(refusal) })).rejects.toBe(refusal);
});

const newest = "manifest.00000000000000ff";
const fileOf = (files: ReadonlyMap<string, Uint8Array>, path: string) => files.get(path) ?? new Uint8Array();

test.each<[string, (files: Map<string, Uint8Array>) => void, string]>([
  ["none are there", (files) => [...files.keys()].map((path) => path.startsWith("manifest.0") && files.delete(path)), "<16 hex digits>"],
  ["the latest has another name", (files) => files.set(newest, fileOf(files, "manifest.0000000000000015")), "the generation of its name"],
  ["the latest is another database's", (files) => files.set(newest, fileOf(database("inline"), "manifest.ocdbt")), "the UUID of"],
  ["the latest holds no versions", (files) => files.set(newest, fileOf(files, "manifest.ocdbt")), "a manifest with versions"],
])("numbered manifests are corrupt where %s", async (_, change, message) => {
  const files = database("numbered");
  change(files);
  await expect(openOcdbt(memoryStorage(files))).rejects.toThrow(message);
});
