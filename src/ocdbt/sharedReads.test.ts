import { expect, test } from "vitest";
import type { TaskContext } from "../tasks/context.js";
import { SharedReads, type Weighed } from "./sharedReads.js";

/** Reads that wait until they are told how they end. */
function controlled() {
  const calls: {
    key: string;
    signal: AbortSignal | undefined;
    resolve: (value: Weighed<string>) => void;
    reject: (error: Error) => void;
  }[] = [];
  const reading = (key: string) => (context: TaskContext) =>
    new Promise<Weighed<string>>((resolve, reject) => calls.push({ key, signal: context.signal, resolve, reject }));
  return { calls, reading };
}

const weighing = (value: string, byteLength: number) => async () => ({ value, byteLength });

test("reads once for all who ask meanwhile and later", async () => {
  const reads = new SharedReads<string>(100);
  const { calls, reading } = controlled();
  const both = Promise.all([reads.get("a", reading("a")), reads.get("a", reading("a"))]);
  calls[0]?.resolve({ value: "A", byteLength: 1 });
  expect(await both).toEqual(["A", "A"]);
  expect(await reads.get("a", reading("a"))).toBe("A");
  expect(calls.length).toBe(1);
});

test("does not keep a failed read", async () => {
  const reads = new SharedReads<string>(100);
  const { calls, reading } = controlled();
  const both = Promise.allSettled([reads.get("a", reading("a")), reads.get("a", reading("a"))]);
  calls[0]?.reject(new Error("cut"));
  expect((await both).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await reads.get("a", weighing("A", 1))).toBe("A");
});

test("a caller that aborts leaves the read to the others", async () => {
  const reads = new SharedReads<string>(100);
  const { calls, reading } = controlled();
  const controller = new AbortController();
  const first = reads.get("a", reading("a"), { signal: controller.signal });
  const second = reads.get("a", reading("a"));
  const reason = new Error("stop");
  controller.abort(reason);
  await expect(first).rejects.toBe(reason);
  expect(calls[0]?.signal?.aborted).toBe(false);
  calls[0]?.resolve({ value: "A", byteLength: 1 });
  expect(await second).toBe("A");
});

test("the last caller to abort aborts the read, and the next one reads anew", async () => {
  const reads = new SharedReads<string>(100);
  const { calls, reading } = controlled();
  const controller = new AbortController();
  const all = [1, 2].map(() => reads.get("a", reading("a"), { signal: controller.signal }));
  controller.abort(new Error("stop"));
  for (const one of all) await expect(one).rejects.toThrow("stop");
  expect(calls[0]?.signal?.aborted).toBe(true);
  const again = reads.get("a", reading("a"));
  calls[0]?.resolve({ value: "too late", byteLength: 50 });
  calls[1]?.resolve({ value: "A", byteLength: 1 });
  expect(await again).toBe("A");
  expect(reads.used).toBe(1);
});

test("an aborted caller starts nothing", async () => {
  const reads = new SharedReads<string>(100);
  const { calls, reading } = controlled();
  const reason = new Error("stop");
  await expect(reads.get("a", reading("a"), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(calls.length).toBe(0);
});

test("keeps the last used values within the budget", async () => {
  const reads = new SharedReads<string>(10);
  const read: string[] = [];
  const get = (key: string, byteLength: number) =>
    reads.get(key, async () => {
      read.push(key);
      return { value: key, byteLength };
    });
  await get("a", 4);
  await get("b", 4);
  await get("a", 4);
  await get("c", 4);
  expect(reads.used).toBe(8);
  await get("a", 4);
  await get("b", 4);
  expect(read).toEqual(["a", "b", "c", "b"]);
});

test("keeps the last value whatever its size, but not in the way of the next", async () => {
  const reads = new SharedReads<string>(10);
  await reads.get("huge", weighing("huge", 1000));
  expect(reads.used).toBe(1000);
  await reads.get("small", weighing("small", 1));
  expect(reads.used).toBe(1);
});
