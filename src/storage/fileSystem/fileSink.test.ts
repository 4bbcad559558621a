import { expect, it } from "vitest";
import { openSyncSink, openWritableSink } from "./fileSink.js";

/** A synchronous handle that answers writes with these numbers; e2e/opfs.spec.ts has the real ones. */
const sinkThatWrites = async (...counts: readonly number[]) => {
  const written: (readonly [byteLength: number, at: number])[] = [];
  const answers = [...counts];
  const sync = {
    write(bytes: Uint8Array, { at }: { readonly at: number }) {
      written.push([bytes.length, at]);
      return answers.shift() ?? 0;
    },
    truncate: () => {},
    flush: () => {},
    close: () => {},
  };
  const sink = await openSyncSink({ createSyncAccessHandle: async () => sync } as never);
  return { written, sink };
};

it("a synchronous handle goes on where it wrote less than it was given", async () => {
  const { sink, written } = await sinkThatWrites(3, 5);
  await sink?.put(new ArrayBuffer(8), 8);
  expect(written).toEqual([
    [8, 0],
    [5, 3],
  ]);
});

it("a synchronous handle is let go of where the file cannot be emptied, and where it refuses that too", async () => {
  let closed = 0;
  const sync = {
    truncate() {
      throw new Error("no");
    },
    close() {
      closed += 1;
      throw new Error("not that either");
    },
  };
  await expect(openSyncSink({ createSyncAccessHandle: async () => sync } as never)).rejects.toThrow("no");
  expect(closed).toBe(1);
  const usable = { ...sync, truncate: () => {} };
  const sink = await openSyncSink({ createSyncAccessHandle: async () => usable } as never);
  await sink?.abandon();
  expect(closed).toBe(2);
});

it.each([
  ["that writes nothing", 0, "QuotaExceededError"],
  ["that gives Chromium's code for no room in place of a count", 2 ** 32 - 8, "QuotaExceededError"],
  ["that gives another code", 2 ** 32 - 1, "UnknownError"],
  ["that gives no number", Number.NaN, "QuotaExceededError"],
])("a synchronous handle %s has failed", async (_, count, name) => {
  const { sink } = await sinkThatWrites(3, count);
  await expect(sink?.put(new ArrayBuffer(8), 8)).rejects.toMatchObject({ name });
});

it("a browser without streams into files is told of as such", async () => {
  const handle = { name: "file" } as FileSystemFileHandle;
  await expect(openWritableSink(handle)).rejects.toMatchObject({ name: "StorageError", reason: "unavailable", path: "file" });
});
