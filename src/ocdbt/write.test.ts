import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memoryStorage } from "../storage/memory.js";
import type { WritableStorage } from "../storage/storage.js";
import { listed, opened } from "./databases.testing.js";
import { hexBytes, hexOf } from "./format/records.testing.js";
import { walkNodes } from "./walkNodes.testing.js";
import { type OcdbtEntry, writeOcdbt } from "./write.js";

const utf8 = (text: string) => new TextEncoder().encode(text);

const entriesOf = (values: Readonly<Record<string, Uint8Array>>): OcdbtEntry[] =>
  Object.entries(values).map(([key, value]) => ({ key, value }));

/** Makes what a database gets from chance and the clock the same each time. */
const fixed = { random: (length: number) => Uint8Array.from({ length }, (_, index) => index), now: () => 1700000000000000000n };

/** Paths of all files. */
async function pathsIn(storage: WritableStorage, prefix = ""): Promise<string[]> {
  const { files, directories } = await storage.list(prefix);
  const below = await Promise.all(directories.map((name) => pathsIn(storage, `${prefix}${name}/`)));
  return [...files.map((name) => prefix + name), ...below.flat()];
}

describe("a database that Orbax was seen to restore", () => {
  const zarray =
    '{"chunks":[2],"compressor":null,"dimension_separator":".","dtype":"<f4","fill_value":null,"filters":null,"order":"C","shape":[2],"zarr_format":2}';
  const values = { "w/0": new Uint8Array(Float32Array.of(1, 2).buffer), "w/.zarray": utf8(zarray) };

  test("is written byte for byte", async () => {
    const storage = memoryStorage();
    expect(await writeOcdbt(storage, entriesOf(values), fixed)).toEqual({ byteLength: 292, height: 0 });
    expect(hexOf((await storage.read("d/000102030405060708090a0b0c0d0e0f")) ?? utf8(""))).toBe(
      hexOf(
        Buffer.concat([
          hexBytes("0cdb20dec0000000000000000000 00 00 02 02 09 01 772f2e7a61727261793091010800 00".replaceAll(" ", "")),
          utf8(zarray),
          hexBytes("0000803f00000040 a6556a5b"),
        ]),
      ),
    );
    expect(hexOf((await storage.read("manifest.ocdbt")) ?? utf8(""))).toBe(
      hexOf(
        hexBytes(`0cdb3a2a6400000000000000 0000 000102030405060708090a0b0c0d0e0f 00 8008 80c2d72f 04 00 01 22 00
          642f3030303130323033303430353036303730383039306130623063306430653066 01 01 00 00 00 c001 02 c001 00
          00002a36fe9c9717 00 f197d754`),
      ),
    );
  });

  test("without keys, too", async () => {
    const storage = memoryStorage();
    expect(await writeOcdbt(storage, [], fixed)).toEqual({ byteLength: 82, height: 0 });
    expect(await pathsIn(storage)).toEqual(["manifest.ocdbt"]);
    expect(hexOf((await storage.read("manifest.ocdbt")) ?? utf8(""))).toBe(
      hexOf(
        hexBytes(`0cdb3a2a5200000000000000 0000 000102030405060708090a0b0c0d0e0f 00 8008 80c2d72f 04 00 01 00 00
          01 01 00 00 ffffffffffffffffff01 ffffffffffffffffff01 00 00 00 00002a36fe9c9717 00 4c580c4e`),
      ),
    );
    expect(await listed((await opened(storage)).keys(""))).toEqual([]);
  });
});

describe("writeOcdbt", () => {
  const keys = fc.uniqueArray(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc
        .tuple(fc.constantFrom("tree.", "tree.layers.", "x"), fc.nat(300), fc.constantFrom("/.zarray", "/0", "/1.0"))
        .map((parts) => parts.join("")),
    ),
    { maxLength: 120 },
  );

  test("opens again with every value, whatever the keys, lengths and limits", async () => {
    const heights = new Set<number>();
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.infiniteStream(fc.oneof(fc.nat(30), fc.nat(3000))),
        fc.record({
          dataFileBytes: fc.integer({ min: 1, max: 20_000 }),
          maxInlineValueBytes: fc.nat(100),
          maxDecodedNodeBytes: fc.constantFrom(50, 200, 400, 1000, 5000, 100_000_000),
          compression: fc.constantFrom("none" as const, "zstd" as const),
        }),
        async (names, lengths, options) => {
          const values = new Map(names.map((key, index) => [key, new Uint8Array(lengths.next().value ?? 0).fill(index)]));
          const storage = memoryStorage();
          const written = await writeOcdbt(
            storage,
            Array.from(values, ([key, value]) => ({ key, value })),
            options,
          );
          heights.add(written.height);
          const database = await opened(storage);
          expect((await listed(database.keys(""))).sort()).toEqual([...names].sort());
          expect(await database.readAll(names)).toEqual([...values.values()]);
          const files = await Promise.all((await pathsIn(storage)).map((path) => storage.read(path)));
          expect(files.reduce((sum, file) => sum + (file?.length ?? 0), 0)).toBe(written.byteLength);
        },
      ),
    );
    expect([...heights].sort()).toEqual(expect.arrayContaining([0, 1, 2, 3]));
  });

  test("takes values in pieces, in any order, without keeping them", async () => {
    const storage = memoryStorage();
    const piece = new Uint8Array(1000);
    async function* pieces(count: number) {
      for (let index = 0; index < count; index++) yield piece.fill(index);
    }
    async function* entries(): AsyncGenerator<OcdbtEntry> {
      yield { key: "b", value: { byteLength: 5000, pieces: pieces(5) } };
      yield { key: "a", value: { byteLength: 1000, pieces: pieces(1) } };
    }
    await writeOcdbt(storage, entries());
    const database = await opened(storage);
    expect(await database.read("b")).toEqual(Uint8Array.from({ length: 5000 }, (_, index) => Math.floor(index / 1000)));
    expect(await database.locate("a")).toMatchObject({ inline: new Uint8Array(1000) });
  });

  test("rolls over, and keeps right statistics", async () => {
    const storage = memoryStorage();
    const values = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`${index}`, new Uint8Array(3000).fill(index)]));
    const written = await writeOcdbt(storage, entriesOf(values), { dataFileBytes: 10_000, maxDecodedNodeBytes: 200 });
    const { files } = await storage.list("d/");
    expect(files).toHaveLength(4);
    for (const name of files) {
      expect(name).toMatch(/^[0-9a-f]{32}$/);
      expect((await storage.read(`d/${name}`))?.length).toBeLessThanOrEqual(10_000);
    }
    const nodes = await walkNodes(storage);
    expect(nodes.at(-1)?.node.height).toBe(written.height);
    for (const { node, statistics } of nodes.filter(({ node }) => node.kind === "leaf")) {
      expect(statistics.numKeys).toBe(BigInt(node.kind === "leaf" ? node.entries.length : 0));
    }
    expect(nodes.at(-1)?.statistics).toEqual({
      numKeys: 10n,
      numTreeBytes: BigInt(nodes.reduce((sum, { place }) => sum + place.length, 0)),
      numIndirectValueBytes: 30_000n,
    });
  });

  test("20,000 arrays with names of 1 KiB", async () => {
    const storage = memoryStorage();
    const names = Array.from({ length: 20_000 }, (_, index) => `tree.${index}.${"n".repeat(1000)}`);
    const entries = names.flatMap((name, index) => [
      { key: `${name}/.zarray`, value: utf8("{}") },
      { key: `${name}/0`, value: new Uint8Array(Uint32Array.of(index).buffer) },
    ]);
    expect((await writeOcdbt(storage, entries)).height).toBe(0);
    const database = await opened(storage);
    expect(await database.read(`${names[12_345]}/0`)).toEqual(new Uint8Array(Uint32Array.of(12_345).buffer));
    expect((await listed(database.keys("tree.1999"))).length).toBe(22);
  });

  test("refuses keys that come twice, and makes no database", async () => {
    const storage = memoryStorage();
    const twice = ["a", "b", "a"].map((key) => ({ key, value: new Uint8Array(2000) }));
    await expect(writeOcdbt(storage, twice)).rejects.toMatchObject({
      name: "CheckpointValueError",
      message: 'two values have the key "a"',
    });
    expect(await pathsIn(storage)).toEqual([]);
  });

  test("does nothing after an abort", async () => {
    const storage = memoryStorage();
    const controller = new AbortController();
    function* entries(): Generator<OcdbtEntry> {
      yield { key: "a", value: new Uint8Array(2000) };
      controller.abort(new Error("enough"));
      yield { key: "b", value: new Uint8Array(2000) };
    }
    await expect(writeOcdbt(storage, entries(), {}, { signal: controller.signal })).rejects.toThrow("enough");
    expect(await pathsIn(storage)).toEqual([]);
  });

  test("puts the manifest last, and leaves none wherever the storage fails", async () => {
    const values = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}`, new Uint8Array(600_000).fill(index)]));
    const operations = async (failAt: number) => {
      const storage = memoryStorage();
      const done: string[] = [];
      const failing = failingAt(storage, failAt, done);
      const written = writeOcdbt(failing, entriesOf(values), { dataFileBytes: 1_500_000 });
      const outcome = await written.then(() => "written").catch((error: Error) => error.message);
      return { outcome, done, paths: await pathsIn(storage) };
    };
    const whole = await operations(Number.POSITIVE_INFINITY);
    expect(whole.outcome).toBe("written");
    expect(whole.done.at(-1)).toBe("manifest.ocdbt");
    expect(whole.done.filter((operation) => operation === "manifest.ocdbt")).toHaveLength(1);
    for (let failAt = 0; failAt < whole.done.length; failAt++) {
      const { outcome, paths } = await operations(failAt);
      expect(outcome).toBe("full");
      expect(paths).not.toContain("manifest.ocdbt");
    }
  });
});

/** The same storage, whose n-th call of those that change it fails; `done` gets a line for each. */
function failingAt(storage: WritableStorage, failAt: number, done: string[]): WritableStorage {
  const count = (operation: string) => {
    if (done.length === failAt) throw new Error("full");
    done.push(operation);
  };
  const create: WritableStorage["create"] = async (path) => {
    count(`create ${path}`);
    const pieces: Uint8Array[] = [];
    return {
      write: async (bytes: Uint8Array) => {
        count("append");
        pieces.push(bytes.slice());
      },
      close: async () => {
        count("close");
        await storage.write(path, Buffer.concat(pieces));
      },
      abort: async () => {},
    };
  };
  const write: WritableStorage["write"] = async (path, bytes) => {
    count(path);
    await storage.write(path, bytes);
  };
  return { ...storage, write, create };
}
