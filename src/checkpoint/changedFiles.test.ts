import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../../e2e/server/server.mjs";
import { StorageError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { httpStorage } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import type { ReadableStorage } from "../storage/storage.js";
import { filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { restoredLeaves } from "./restoredLeaves.testing.js";
import { fetchOfVersion } from "./versionedFiles.testing.js";

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ root: join(fixtureFolder, "digits", "checkpoints") });
});
afterAll(() => server.close());

/** The digits' steps, whose data files say of each answer which version they are of. */
const versioned = (versionOf: () => number) => httpStorage(server.url, { fetch: fetchOfVersion(versionOf) });

const metadataReads = () => server.requests.filter(({ path }) => path === "/1200/model/_METADATA").length;

describe("a data file that changed since the checkpoint was opened", () => {
  it("makes a restore open it anew, once, and gives what is there then", async () => {
    let version = 1;
    const opened = await openCheckpoint(
      versioned(() => version),
      { item: "model" },
    );
    await opened.read("out/kernel/value");
    const before = metadataReads();
    version = 2;
    const device = new FakeDevice();
    const loaded: number[] = [];
    const tree = await opened.restore({ device: device.gpu, onProgress: ({ loadedBytes }) => loaded.push(loadedBytes) });
    expect(metadataReads() - before).toBe(1);
    const again = await openCheckpoint(server.url, { item: "model" });
    const expected = restoredLeaves(await again.restore({ device: device.gpu }));
    expect(restoredLeaves(tree)).toEqual(expected);
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    opened.destroy();
    again.destroy();
    expect(device.alive).toEqual([]);
  });

  it("makes a read open it anew, of the step that was opened", async () => {
    let version = 1;
    const opened = await openCheckpoint(
      versioned(() => version),
      { step: 400, item: "model" },
    );
    await opened.read("out/kernel/value");
    version = 2;
    const part = await opened.read("out/kernel/value", { region: [[0, 2]] });
    const other = await (await openCheckpoint(server.url, { step: 400, item: "model" })).read("out/kernel/value", { region: [[0, 2]] });
    expect(part.data).toEqual(other.data);
  });

  it("is read of the save that took its place, where that has files of other names", async () => {
    let files = filesOfStep("digits", 1200);
    const other = new Map(Array.from(filesOfStep("digits", 800), ([path, bytes]) => [path.replace(/^800\//, "1200/"), bytes]));
    const asked: string[] = [];
    const storage: ReadableStorage = {
      list: (prefix, options) => memoryStorage(files).list(prefix, options),
      read: (path, options) => {
        asked.push(path);
        return memoryStorage(files).read(path, options);
      },
    };
    const opened = await openCheckpoint(storage, { item: "model" });
    files = other;
    const expected = restoredLeaves(await (await openCheckpoint(memoryStorage(other), { item: "model" })).restore());
    expect(restoredLeaves(await opened.restore())).toEqual(expected);
    files = new Map([...other].filter(([path]) => !/model\/ocdbt.process_0\/d\//.test(path)));
    asked.length = 0;
    await expect(opened.restore()).rejects.toMatchObject({ name: "CorruptCheckpointError", received: "no such file" });
    expect(asked.filter((path) => path === "1200/model/_METADATA")).toHaveLength(1);
  });

  it("is an error where it changes again and again, and leaves no buffer", async () => {
    let isChanging = false;
    const { read, list } = memoryStorage(filesOfStep("digits", 1200));
    const storage: ReadableStorage = {
      list,
      read: async (path, options) => {
        if (isChanging && options?.range !== undefined && options.range.length > 1000 && path.includes("/d/"))
          throw new StorageError({ path, reason: "changed", message: "it changed" });
        return read(path, options);
      },
    };
    const opened = await openCheckpoint(storage, { item: "model" });
    isChanging = true;
    const device = new FakeDevice();
    await expect(opened.restore({ device: device.gpu })).rejects.toMatchObject({ name: "StorageError", reason: "changed" });
    await expect(opened.read("out/kernel/value")).rejects.toMatchObject({ name: "StorageError", reason: "changed" });
    expect(device.alive).toEqual([]);
  });
});
