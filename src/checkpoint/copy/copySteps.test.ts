import { describe, expect, test } from "vitest";
import { hostArray } from "../../arrays/hostArray.js";
import { memoryStorage } from "../../storage/memory.js";
import type { ReadableStorage, WritableStorage } from "../../storage/storage.js";
import { handmadeZip } from "../../storage/zip/handmade.testing.js";
import { zipStorage } from "../../storage/zip.js";
import { OrbaxCheckpointStore } from "../store.js";
import { copySteps } from "./copySteps.js";
import { zipSteps } from "./zipSteps.js";

const weights = (first: number) =>
  hostArray({ shape: [3, 70_000], dtype: "float32" }, Float32Array.from({ length: 210_000 }, (_, index) => first + index).buffer);

async function storeWith(...steps: readonly number[]) {
  const storage = memoryStorage();
  const store = new OrbaxCheckpointStore(storage, { maxToKeep: null });
  for (const step of steps) await store.save(step, { model: { w: weights(step), n: step } }, { metrics: { loss: 1 / step } });
  return storage;
}

/** As text, which compares faster. */
async function filesOf(storage: ReadableStorage, prefix = ""): Promise<Map<string, string>> {
  const { files, directories } = await storage.list(prefix);
  const found = new Map<string, string>();
  for (const name of files) found.set(prefix + name, new TextDecoder("latin1").decode(await storage.read(prefix + name)));
  for (const name of directories) for (const [path, bytes] of await filesOf(storage, `${prefix}${name}/`)) found.set(path, bytes);
  return found;
}

const zipOf = async (...args: Parameters<typeof zipSteps>): Promise<Blob> => new Response(zipSteps(...args)).blob();

const without = (storage: WritableStorage): ReadableStorage => {
  const { read, list } = storage;
  return { read, list };
};

describe("copies steps byte for byte", () => {
  test("to another place, all of them or some", async () => {
    const from = await storeWith(1, 2, 3);
    const all = memoryStorage();
    expect(await copySteps(from, all)).toEqual([1, 2, 3]);
    expect(await filesOf(all)).toEqual(await filesOf(from));
    const some = memoryStorage();
    expect(await copySteps(without(from), some, { steps: [3, 1, 3] })).toEqual([1, 3]);
    expect(await new OrbaxCheckpointStore(some).listSteps()).toEqual([1, 3]);
  });

  test("through a ZIP and back", async () => {
    const from = await storeWith(4, 8);
    const zip = await zipOf(from);
    const to = memoryStorage();
    expect(await copySteps(zipStorage(zip), to)).toEqual([4, 8]);
    expect(await filesOf(to)).toEqual(await filesOf(from));
    const { items } = await new OrbaxCheckpointStore(zipStorage(zip)).restore(8);
    expect(items.model).toMatchObject({ w: { shape: [3, 70_000] }, n: 8 });
  });

  test("where they are still in the folder of their commit, and without what is unfinished", async () => {
    const from = await storeWith(1);
    const committed = "1.orbax-checkpoint-tmp-webgpu-1-0123456789abcdef";
    const files = [...(await filesOf(from)).keys()];
    for (const file of files) await from.move(file, file.replace(/^1\//, `${committed}/`));
    const identity = new TextDecoder().decode(await from.read(`${committed}/_CHECKPOINT_METADATA`));
    const paths = files.map((file) => file.slice(2));
    const unfinished = new TextEncoder().encode("x");
    await from.write("2.orbax-checkpoint-tmp/model/_METADATA", unfinished);
    await from.write(
      `${committed}/orbax-webgpu-commit.json`,
      new TextEncoder().encode(JSON.stringify({ version: 1, identity, replaces: [], files: paths })),
    );
    const zip = await zipOf(from);
    expect((await zipStorage(zip).list("")).directories).toEqual(["1"]);
    expect((await new OrbaxCheckpointStore(zipStorage(zip)).restore(1)).items.model).toMatchObject({ n: 1 });
  });

  test("below the latest one, and over others only when asked", async () => {
    const from = await storeWith(1, 5);
    const to = await storeWith(5, 9);
    const before = await filesOf(to);
    await expect(copySteps(from, to)).rejects.toMatchObject({ name: "CheckpointNotWrittenError", reason: "exists", step: 5 });
    expect(await filesOf(to)).toEqual(before);
    expect(await copySteps(from, to, { overwrite: true })).toEqual([1, 5]);
    expect(await new OrbaxCheckpointStore(to).listSteps()).toEqual([1, 5, 9]);
  });
});

test("tells how many bytes of how many files are done", async () => {
  const from = await storeWith(1);
  const files = await filesOf(from);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0); // a character is a byte
  for (const copy of [
    (onProgress: (event: unknown) => void) => copySteps(from, memoryStorage(), { onProgress }),
    (onProgress: (event: unknown) => void) => zipOf(from, { onProgress }),
  ]) {
    const events: unknown[] = [];
    await copy((event) => events.push(event));
    expect(events.at(-1)).toEqual({
      phase: "done",
      leaf: "",
      loadedBytes: bytes,
      totalBytes: bytes,
      leaves: files.size,
      totalLeaves: files.size,
    });
    expect(events.length).toBeGreaterThan(files.size);
  }
});

describe("refuses, with nothing written,", () => {
  const refuses = async (from: ReadableStorage, error: object, options: Parameters<typeof copySteps>[2] = {}) => {
    const to = memoryStorage();
    await expect(copySteps(from, to, options)).rejects.toMatchObject(error);
    expect((await filesOf(to)).size).toBe(0);
    await expect(zipOf(from, { steps: options.steps })).rejects.toMatchObject(error);
  };

  test("a step that is not there, and a place without steps", async () => {
    await refuses(await storeWith(1), { name: "CheckpointNotFoundError", step: 2 }, { steps: [2] });
    await refuses(await storeWith(1), { name: "CheckpointValueError" }, { steps: [] });
    await refuses(memoryStorage({ "model/_METADATA": new Uint8Array() }), {
      name: "CheckpointNotFoundError",
      step: undefined,
      message: expect.stringMatching(/it holds no steps: a step is a folder that a number names/),
    });
  });

  test("a ZIP that would do harm", async () => {
    const bytes = new Uint8Array(5);
    for (const entries of [
      [
        { path: "1/a", bytes },
        { path: "../1/b", bytes },
      ],
      [
        { path: "1/a", bytes },
        { path: "1/A", bytes },
      ],
      [{ path: "1/a", bytes, mode: 0o120777 }],
    ])
      await refuses(zipStorage(handmadeZip(entries)), { name: "CorruptCheckpointError" });
  });

  test("a place that can only be read", async () => {
    const from = await storeWith(1);
    await expect(copySteps(from, without(memoryStorage()))).rejects.toMatchObject({ name: "StorageError", reason: "read-only" });
    await expect(copySteps(from, "https://example.com/run")).rejects.toMatchObject({ reason: "read-only" });
  });
});

describe("stops", () => {
  test("a copy at its signal, which leaves no step of it", async () => {
    const from = await storeWith(1, 2);
    const to = await storeWith(1);
    const before = await filesOf(to);
    const controller = new AbortController();
    const onProgress = ({ loadedBytes }: { readonly loadedBytes: number }) => loadedBytes > 0 && controller.abort(new Error("enough"));
    await expect(copySteps(from, to, { steps: [2], signal: controller.signal, onProgress })).rejects.toThrow("enough");
    expect(await filesOf(to)).toEqual(before);
  });

  test("a copy where a file is damaged in its ZIP, which leaves no step of it", async () => {
    const zip = new Uint8Array(await (await zipOf(await storeWith(1))).arrayBuffer());
    zip[zip.length >> 1] = (zip[zip.length >> 1] ?? 0) ^ 1;
    const to = memoryStorage();
    await expect(copySteps(zipStorage(new Blob([zip])), to)).rejects.toMatchObject({ name: "CorruptCheckpointError" });
    expect((await filesOf(to)).size).toBe(0);
  });

  test("a ZIP that nobody reads on, and lets the place go", async () => {
    const from = await storeWith(1);
    const zip = zipSteps(from).getReader();
    await zip.read();
    await zip.cancel();
    const store = new OrbaxCheckpointStore(from, { maxToKeep: null });
    await store.save(2, { model: { n: 1 } }, { ifLocked: "fail" });
    expect((await from.list("")).directories).toEqual(["1", "2"]);
  });

  test("a ZIP of a step that is replaced meanwhile", async () => {
    const from = await storeWith(1);
    const zip = zipSteps(from).getReader();
    await zip.read();
    await new OrbaxCheckpointStore(from).save(1, { model: { n: 2 } }, { overwrite: true });
    await expect(
      (async () => {
        while (!(await zip.read()).done);
      })(),
    ).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: 1 });
  });
});
