import { expect, test } from "vitest";
import type { ReadableStorage } from "../storage/storage.js";
import { streamRange } from "../storage/streamRange.js";
import { expectCorrupt, opened } from "./databases.testing.js";
import { indirect, inline, leafOf, ownFiles, storageOf } from "./handmade.testing.js";

const reading = async (storage: ReadableStorage, key = "key") => (await opened(storage)).read(key);

test("a data file that is missing, or too short", async () => {
  const root = leafOf({ key: indirect(5n, 10n) }, [{ basePath: "ocdbt.process_0/", relativePath: "d/0" }]);
  const hint = /at byte 5: expected the data file that the index refers to .*ocdbt\.process_\*/;
  await expectCorrupt(reading(storageOf(root)), "ocdbt.process_0/d/0", hint);
  await expectCorrupt(
    reading(storageOf(root, { "ocdbt.process_0/d/0": new Uint8Array(14) })),
    "ocdbt.process_0/d/0",
    "at byte 5: expected bytes 5 to 15, as the index says",
  );
  expect(await reading(storageOf(root, { "ocdbt.process_0/d/0": new Uint8Array(15) }))).toHaveLength(10);
});

test("the same in a stream", async () => {
  const found = await opened(storageOf(leafOf({ key: indirect(5n, 10n) }, ownFiles("d/0")), { "d/0": new Uint8Array(14) }));
  const drain = async () => {
    for await (const _piece of streamRange(found, "key", { offset: 0, length: 10 }));
  };
  await expectCorrupt(drain(), "d/0", "expected bytes 5 to 15");
});

test("bytes beyond 2^53, and nodes larger than any", async () => {
  await expectCorrupt(reading(storageOf(leafOf({ key: indirect(2n ** 60n, 1n) }, ownFiles("d/0")))), "root", "below 2^53");
  await expectCorrupt(reading(storageOf(leafOf({ key: inline("") }), {}, { offset: 2n ** 53n })), "manifest.ocdbt", "below 2^53");
  await expectCorrupt(reading(storageOf(leafOf({ key: inline("") }), {}, { length: 2n ** 40n })), "root", "at most 134217728 bytes");
});

test("references to no file, or out of the folder, are refused", async () => {
  for (const path of ["../secret", ""]) {
    const found = await opened(storageOf(leafOf({ key: indirect(0n, 2n) }, ownFiles(path))));
    await expect(found.read("key"), path).rejects.toThrow("inside the database's folder");
  }
});
