import { indirect, leafOf, ownFiles, storageOf } from "../ocdbt/handmade.testing.js";
import { openOcdbt } from "../ocdbt/open.js";
import { testStorage } from "./conformance.testing.js";

// The keys of a database are the paths of a storage: every second value in the index, the others in a data file.
testStorage(
  "an opened database",
  async (files) => {
    const data = Buffer.concat([...files.values()]);
    let offset = 0;
    const values = [...files].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const offsets = new Map<string, number>();
    for (const [path, bytes] of files) {
      offsets.set(path, offset);
      offset += bytes.byteLength;
    }
    const entries = values.map(([path, bytes], index) => {
      const inside = bytes.byteLength < 2000 && index % 2 === 0;
      const value = inside ? { kind: "inline" as const, bytes } : indirect(BigInt(offsets.get(path) ?? 0), BigInt(bytes.byteLength));
      return [path, value] as const;
    });
    const storage = await openOcdbt(storageOf(leafOf(Object.fromEntries(entries), ownFiles("d/0a")), { "d/0a": new Uint8Array(data) }));
    if (storage === undefined) throw new Error("no database");
    return { storage };
  },
  { anyPath: true },
);
