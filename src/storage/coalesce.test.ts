import { describe, expect, test } from "vitest";
import type { ByteRange } from "../bytes/ranges.js";
import { StorageError } from "../errors.js";
import { withCoalescing } from "./coalesce.js";
import { testStorage } from "./conformance.testing.js";
import { memoryStorage } from "./memory.js";
import type { ReadableStorage } from "./storage.js";

testStorage("withCoalescing", (files) => ({ storage: withCoalescing(memoryStorage(files)) }));

const file = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
const at = (offset: number, length: number) => ({ range: { offset, length } });

interface Asked {
  readonly path: string;
  readonly range: ByteRange | undefined;
  readonly signal: AbortSignal | undefined;
}

/** A storage that notes what it is asked, and answers when told. */
function recorder(answer: (asked: Asked) => Promise<Uint8Array | undefined> = async () => undefined) {
  const asked: Asked[] = [];
  const storage: ReadableStorage = {
    ...memoryStorage(),
    read: (path, { range, signal } = {}) => {
      asked.push({ path, range, signal });
      return answer({ path, range, signal });
    },
  };
  return { asked, storage };
}

const fromFile = async ({ range = { offset: 0, length: 1000 } }: Asked) => file.slice(range.offset, range.offset + range.length);
const rule = { largestGap: 10, longestRun: 100 };

describe("merging", () => {
  test("neighbours asked in one go are one read, and each gets its own bytes", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    const [c, a, b] = await Promise.all([merged.read("x", at(30, 5)), merged.read("x", at(0, 10)), merged.read("x", at(15, 10))]);
    expect(asked).toMatchObject([{ path: "x", range: { offset: 0, length: 35 } }]);
    expect([a, b, c].map((part) => part?.[0])).toEqual([0, 15, 30]);
    expect([a, b, c].map((part) => part?.byteLength)).toEqual([10, 10, 5]);
    expect(new Set([a, b, c].map((part) => part?.buffer)).size).toBe(3);
  });

  test("reads some promises apart are still one, and those after are not", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    const late = async (steps: number, offset: number) => {
      for (let step = 0; step < steps; step += 1) await undefined;
      return merged.read("x", at(offset, 5));
    };
    await Promise.all([late(0, 0), late(3, 5), late(12, 10), late(25, 15)]);
    expect(asked).toHaveLength(1);
    await merged.read("x", at(20, 5));
    expect(asked).toHaveLength(2);
  });

  test("too far apart, too long together, another file, or no range: reads of their own", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    await Promise.all([
      merged.read("x", at(0, 10)),
      merged.read("x", at(21, 10)),
      merged.read("x", at(31, 80)),
      merged.read("x", at(200, 500)),
      merged.read("y", at(10, 10)),
      merged.read("x"),
    ]);
    expect(asked.map(({ path, range }) => [path, range?.offset, range?.length]).sort()).toEqual(
      [
        ["x", undefined, undefined],
        ["x", 0, 10],
        ["x", 21, 90],
        ["x", 200, 500],
        ["y", 10, 10],
      ].sort(),
    );
  });

  test("a range that is to be read alone", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    await Promise.all([merged.read("x", { ...at(0, 10), alone: true }), merged.read("x", at(11, 4)), merged.read("x", at(16, 4))]);
    expect(asked.map(({ range }) => [range?.offset, range?.length]).sort()).toEqual([
      [0, 10],
      [11, 9],
    ]);
  });

  test("the same range twice, and ranges within each other", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    const parts = await Promise.all([at(5, 20), at(5, 20), at(10, 3)].map((range) => merged.read("x", range)));
    expect(parts.map((part) => [part?.[0], part?.byteLength])).toEqual([
      [5, 20],
      [5, 20],
      [10, 3],
    ]);
    expect(asked).toHaveLength(1);
  });

  test("bytes of Node's Buffer are copied, too", async () => {
    const shared = Buffer.from(file);
    const { storage } = recorder(async ({ range }) => range && shared.subarray(range.offset, range.offset + range.length));
    const merged = withCoalescing(storage, rule);
    const [part] = await Promise.all([merged.read("x", at(0, 5)), merged.read("x", at(5, 5))]);
    shared.fill(255);
    expect([...(part ?? [])]).toEqual([0, 1, 2, 3, 4]);
  });

  test("an absent file is absent for all", async () => {
    const merged = withCoalescing(memoryStorage(), rule);
    expect(await Promise.all([merged.read("x", at(0, 5)), merged.read("x", at(5, 5))])).toEqual([undefined, undefined]);
  });
});

describe("failing and aborting", () => {
  test("one range past the end fails alone", async () => {
    const merged = withCoalescing(memoryStorage({ x: file }), rule);
    const [good, bad] = await Promise.allSettled([merged.read("x", at(980, 10)), merged.read("x", at(992, 20))]);
    expect(good).toMatchObject({ status: "fulfilled", value: file.subarray(980, 990) });
    expect(bad).toMatchObject({ status: "rejected", reason: { reason: "length" } });
  });

  test("any other failure is everybody's, also one that is thrown at once", async () => {
    const failure = new StorageError({ path: "x", reason: "network", message: "gone" });
    for (const answer of [
      () => Promise.reject(failure),
      () => {
        throw failure;
      },
    ]) {
      const merged = withCoalescing(recorder(answer).storage, rule);
      const results = await Promise.allSettled([merged.read("x", at(0, 5)), merged.read("x", at(5, 5)), merged.read("x", at(500, 5))]);
      for (const result of results) expect(result).toMatchObject({ status: "rejected", reason: failure });
    }
  });

  test("who aborts leaves the others their bytes; when all abort, the read is aborted", async () => {
    for (const all of [false, true]) {
      const first = new AbortController();
      const second = new AbortController();
      let release = () => {};
      const { asked, storage } = recorder(async (question) => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return fromFile(question);
      });
      const merged = withCoalescing(storage, rule);
      const reads = [merged.read("x", { ...at(0, 5), signal: first.signal }), merged.read("x", { ...at(5, 5), signal: second.signal })];
      const settled = Promise.allSettled(reads);
      await new Promise((resolve) => setTimeout(resolve));
      first.abort(new Error("first"));
      if (all) second.abort(new Error("second"));
      release();
      const results = await settled;
      expect(asked[0]?.signal?.aborted ?? false).toBe(all);
      expect(results.map(({ status }) => status)).toEqual(["rejected", all ? "rejected" : "fulfilled"]);
    }
  });

  test("who aborts while it waits for neighbours is not read for", async () => {
    const { asked, storage } = recorder(fromFile);
    const merged = withCoalescing(storage, rule);
    const controller = new AbortController();
    const read = merged.read("x", { ...at(0, 5), signal: controller.signal });
    const other = merged.read("x", at(5, 5));
    controller.abort(new Error("enough"));
    await expect(read).rejects.toThrow("enough");
    expect(await other).toEqual(file.subarray(5, 10));
    expect(asked).toMatchObject([{ range: { offset: 5, length: 5 } }]);
  });
});

test("passes the rest on", async () => {
  const inner: ReadableStorage = {
    ...memoryStorage({ x: file }),
    handle: async (path) => ({ name: path }) as FileSystemFileHandle,
    snapshot: () => memoryStorage({ y: file }),
  };
  const merged = withCoalescing(inner);
  expect(merged.name).toBe("memory");
  expect(merged.stream).toBeUndefined();
  expect(await merged.handle?.("x")).toEqual({ name: "x" });
  expect(withCoalescing(memoryStorage()).handle).toBeUndefined();
  expect(await merged.snapshot?.().read("y", at(0, 1))).toEqual(file.subarray(0, 1));
});
