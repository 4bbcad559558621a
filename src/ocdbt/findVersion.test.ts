import { expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import { counted, database } from "./databases.testing.js";
import { openOcdbt } from "./open.js";

test("where a generation is not there, the latest is named", async () => {
  for (const generation of [0n, 303n, 2n ** 63n]) {
    await expect(openOcdbt(memoryStorage(database("generations")), { generation })).rejects.toThrow(
      `the database has no generation ${generation}; its latest is 301`,
    );
  }
});

test("a version-tree node that is missing or another one is corrupt", async () => {
  const files = database("generations");
  const opening = (changed: ReadonlyMap<string, Uint8Array>) => openOcdbt(memoryStorage(changed), { generation: 17n });
  const { storage, reads } = counted(memoryStorage(files));
  await openOcdbt(storage, { generation: 17n });
  const [path = ""] = (reads.at(-1) ?? "").split(" ");
  const without = new Map(files);
  without.delete(path);
  await expect(opening(without)).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
  const damaged = new Map(files).set(
    path,
    (files.get(path) ?? new Uint8Array()).map((byte) => byte ^ 1),
  );
  await expect(opening(damaged)).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
});
