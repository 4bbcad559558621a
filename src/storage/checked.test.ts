import { describe, expect, test, vi } from "vitest";
import { checkedStorage } from "./checked.js";
import { testStorage } from "./conformance.testing.js";
import { memoryStorage } from "./memory.js";
import type { ReadableStorage } from "./storage.js";

testStorage("a checked storage", (files) => {
  const storage = checkedStorage(memoryStorage(files));
  return { storage, writable: storage };
});

const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);
const memory = memoryStorage({ "a/b": bytes });

/** A caller's own storage, whose read gives what `read` gives. */
const own = (read: (path: string, options?: Parameters<ReadableStorage["read"]>[1]) => unknown): ReadableStorage =>
  checkedStorage({ list: memory.list, read: read as ReadableStorage["read"] });

const range = { offset: 10, length: 5 };

describe("what a caller's read may answer with", () => {
  test.each<[string, (whole: Uint8Array) => unknown]>([
    ["Node's Buffer", (whole) => Buffer.from(whole)],
    ["a view into a larger buffer", (whole) => new Uint8Array([9, 9, 9, ...whole, 9]).subarray(3, 103)],
    ["bytes that are there at once", (whole) => whole],
    ["bytes in shared memory", (whole) => new Uint8Array(new SharedArrayBuffer(whole.length)).map((_, index) => whole[index] ?? 0)],
  ])("%s", async (_, give) => {
    const storage = own((_, options) => {
      const { offset, length } = options?.range ?? { offset: 0, length: 100 };
      return (give(bytes) as Uint8Array).subarray(offset, offset + length);
    });
    expect(Array.from((await storage.read("a/b")) ?? [])).toEqual(Array.from(bytes));
    const part = await storage.read("a/b", { range });
    expect(Array.from(part ?? [])).toEqual([10, 11, 12, 13, 14]);
    // A browser's TextDecoder, its digests and others take no shared memory.
    expect(part?.buffer).toBeInstanceOf(ArrayBuffer);
  });

  test("null and undefined, where there is no file", async () => {
    for (const nothing of [null, undefined]) expect(await own(async () => nothing).read("a/b")).toBeUndefined();
  });

  test.each([["text"], [new ArrayBuffer(5)], [[1, 2, 3, 4, 5]], [new Float32Array(5)], [new Response("x")], [5]])(
    "not %s",
    async (wrong) => {
      const read = own(async () => wrong).read("a/b", { range });
      await expect(read).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(/a\/b.*Uint8Array/) });
    },
  );

  test("not more than the range that was asked for, which would pass for other bytes", async () => {
    const read = own((path) => memory.read(path)).read("a/b", { range });
    await expect(read).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(/options\.range/) });
  });

  test("less where the file ends", async () => {
    const read = own(async () => bytes.subarray(10, 13)).read("a/b", { range });
    await expect(read).rejects.toMatchObject({ name: "StorageError", reason: "length" });
  });
});

test("an abort does not wait for a caller's storage that heeds none", async () => {
  const never = () => new Promise<never>(() => {});
  const storage = checkedStorage({ read: never, list: never });
  const controller = new AbortController();
  const waiting = [storage.read("a", controller), storage.list("", controller)];
  controller.abort("enough");
  for (const work of waiting) await expect(work).rejects.toBe("enough");
});

test("nothing is asked after an abort", async () => {
  const asked = vi.fn();
  const storage = checkedStorage({ read: asked, list: asked });
  await expect(storage.read("a", { signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  await expect(storage.list("", { signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  expect(asked).not.toHaveBeenCalled();
});

test("a list has files and directories", async () => {
  for (const wrong of [undefined, null, ["1"], { files: [] }, { files: "x", directories: [] }]) {
    const storage = checkedStorage({ read: memory.read, list: async () => wrong as never });
    await expect(storage.list("")).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(/directories/) });
  }
});

test("a stream has the bytes of the range, no more and no fewer", async () => {
  const collected = async (pieces: unknown[]) => {
    const storage = checkedStorage({
      ...memory,
      stream: async function* () {
        yield* pieces as Uint8Array[];
      },
    });
    const all: number[] = [];
    for await (const piece of storage.stream?.("a/b", range) ?? []) all.push(...piece);
    return all;
  };
  expect(await collected([bytes.subarray(10, 12), bytes.subarray(12, 15)])).toEqual([10, 11, 12, 13, 14]);
  await expect(collected([bytes.subarray(10, 14)])).rejects.toMatchObject({ name: "StorageError", reason: "length" });
  await expect(collected([bytes])).rejects.toMatchObject({ name: "CheckpointValueError" });
  await expect(collected(["text"])).rejects.toMatchObject({ name: "CheckpointValueError" });
});

test("a handle is the platform's own, or none", async () => {
  const handles: Record<string, unknown> = {
    file: { [Symbol.toStringTag]: "FileSystemFileHandle" },
    none: undefined,
    null: null,
    other: {},
  };
  const storage = checkedStorage({ ...memory, handle: async (path) => handles[path] as FileSystemFileHandle });
  expect(await storage.handle?.("file")).toBe(handles.file);
  for (const absent of ["none", "null"]) expect(await storage.handle?.(absent)).toBeUndefined();
  await expect(storage.handle?.("other")).rejects.toMatchObject({
    name: "CheckpointValueError",
    message: expect.stringMatching(/FileSystemFileHandle/),
  });
  expect(checkedStorage(memory).handle).toBeUndefined();
  const controller = new AbortController();
  const waiting = checkedStorage({ ...memory, handle: () => new Promise<never>(() => {}) }).handle?.("a", controller);
  controller.abort("enough");
  await expect(waiting).rejects.toBe("enough");
});

test("a storage that is a class keeps its this, its name and its snapshots", async () => {
  class Own implements ReadableStorage {
    readonly name = "own";
    readonly #memory = memory;
    read = (...given: Parameters<ReadableStorage["read"]>) => this.#memory.read(...given);
    list(prefix: string) {
      return this.#memory.list(prefix);
    }
    async *stream(path: string, { offset, length }: { offset: number; length: number }) {
      yield ((await this.#memory.read(path)) ?? bytes).subarray(offset, offset + length);
    }
    snapshot() {
      return new Own();
    }
  }
  const storage = checkedStorage(new Own()).snapshot?.();
  expect(storage?.name).toBe("own");
  expect(await storage?.list("")).toEqual({ files: [], directories: ["a"] });
  for await (const piece of storage?.stream?.("a/b", range) ?? []) expect(piece).toHaveLength(5);
});

test("a created file has a writer, and a storage that is not writable creates none", async () => {
  const { read, list } = memory;
  expect(Object.keys(checkedStorage({ read, list }))).toEqual(["read", "list"]);
  for (const wrong of [undefined, {}, { write: async () => {}, close: async () => {} }]) {
    const storage = checkedStorage({ ...memoryStorage(), create: async () => wrong as never });
    await expect(storage.create("a")).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(/close\(\)/) });
  }
});

test("has what was abandoned removed unless it was aborted before, where the storage can", async () => {
  const asked: string[] = [];
  const storage = checkedStorage({ ...memoryStorage(), removeAbandoned: async (prefix) => void asked.push(prefix) });
  await storage.removeAbandoned?.("a/");
  await expect(storage.removeAbandoned?.("b/", { signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  expect(asked).toEqual(["a/"]);
  expect(checkedStorage(memoryStorage()).removeAbandoned).toBeUndefined();
});
