import type { Page } from "playwright/test";
import { type BrowserOnDisk, browserOnDisk } from "./page/onDisk.js";
import { test as base, expect } from "./page/test.js";

// Saves in a real browser: tabs that share a directory, and what is on a GPU.

const test = base.extend<{ browserOnDisk: BrowserOnDisk }>({
  browserOnDisk: async ({ pageServer }, use) => {
    const browser = browserOnDisk(pageServer.url);
    await use(browser);
    await browser.remove();
  },
});

const directory = "runs/shared";

const seedsOf = (page: Page) => page.evaluate((directory) => window.internals.seedsOf(directory), directory);

test("two tabs save 20 steps each into one directory: 40 whole steps", async ({ browserOnDisk }) => {
  const tabs = [await browserOnDisk.open(), await browserOnDisk.open()];
  const saved = await Promise.all(
    tabs.map((page, tab) =>
      page.evaluate(({ directory, seeds }) => window.internals.saveLatest(directory, seeds, 100_000), {
        directory,
        seeds: Array.from({ length: 20 }, (_, index) => tab * 100 + index),
      }),
    ),
  );
  const expected = Object.fromEntries(saved.flatMap((steps, tab) => steps.map((step, index) => [step, tab * 100 + index])));
  expect(Object.keys(expected).map(Number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  await browserOnDisk.end();
  const page = await browserOnDisk.open();
  expect(await seedsOf(page)).toEqual(expected);
});

test("a tab restores what another one saves, overwrites and removes: all of a step, or that it is not there", async ({ browserOnDisk }) => {
  const [reader, writer] = [await browserOnDisk.open(), await browserOnDisk.open()];
  await writer.evaluate((directory) => window.internals.changeLoop(directory, 2, 300_000), directory);
  const reading = reader.evaluate(
    (directory) => window.internals.restoreLoop(directory, ({ right, notFound }) => "stopped" in window && right > 10 && notFound > 0),
    directory,
  );
  const changes = await writer.evaluate((directory) => window.internals.changeLoop(directory, 30, 300_000), directory);
  await reader.evaluate(() => Object.assign(window, { stopped: true }));
  const { problems } = await reading;
  expect(problems).toEqual([]);
  expect(changes).toBe(30);
  const seeds = Object.values(await seedsOf(reader));
  expect(seeds.length).toBeLessThanOrEqual(3);
  expect(seeds.filter((seed) => typeof seed !== "number")).toEqual([]);
});

test("two tabs that restore without a pause do not keep a third one's steps from being tidied", async ({ browserOnDisk }) => {
  const [writer, ...readers] = [await browserOnDisk.open(), await browserOnDisk.open(), await browserOnDisk.open()];
  await writer.evaluate((directory) => window.internals.changeLoop(directory, 2, 300_000), directory);
  const reading = readers.map((page) =>
    page.evaluate((directory) => window.internals.restoreLoop(directory, ({ right }) => "stopped" in window && right > 5), directory),
  );
  await writer.evaluate((directory) => window.internals.changeLoop(directory, 10, 300_000), directory);
  const untidied = () =>
    writer.evaluate(
      async (directory) =>
        (await window.orbax.opfsStorage(directory).list("")).directories.filter((name) => name.includes("orbax-checkpoint-tmp")),
      directory,
    );
  await expect.poll(untidied).toEqual([]);
  for (const page of readers) await page.evaluate(() => Object.assign(window, { stopped: true }));
  for (const { problems } of await Promise.all(reading)) expect(problems).toEqual([]);
});

test("what a closed tab left half written goes with the next tab that opens the store, and a living tab's stays", async ({
  browserOnDisk,
}) => {
  const begin = async () => {
    const page = await browserOnDisk.open();
    await page.evaluate(async (directory) => {
      const writer = await window.orbax.opfsStorage(directory).create("file");
      await writer.write(new Uint8Array(3_000_000).fill(7));
      Object.assign(window, { writer });
    }, directory);
    return page;
  };
  const [closed, living] = [await begin(), await begin()];
  const files = (page: Page) =>
    page.evaluate(async (directory) => {
      await new window.orbax.OrbaxCheckpointStore(directory).listSteps();
      return (await window.orbax.opfsStorage(directory).list("")).files;
    }, directory);
  expect(await files(living)).toHaveLength(2);
  await closed.close();
  const next = await browserOnDisk.open();
  await expect.poll(() => files(next)).toHaveLength(1);
  await living.evaluate(() => (window as unknown as { writer: { close(): Promise<void> } }).writer.close());
  expect(await files(next)).toEqual(["file"]);
});

for (const compression of ["none", "zstd"] as const) {
  test(`every dtype and 48 MiB go from a GPU into files and back, compression ${compression}`, async ({ browserOnDisk }) => {
    const page = await browserOnDisk.open();
    const { result, total, arrays } = await page.evaluate(
      async ({ directory, compression }) => {
        const { arraysToSave, saveAndRestore } = window.internals;
        const given = await arraysToSave(48 * 2 ** 20);
        const result = await saveAndRestore(directory, given, compression);
        const total = Object.values(given.bytes).reduce((sum, { byteLength }) => sum + byteLength, 0);
        return { result, total, arrays: Object.keys(given.arrays).length };
      },
      { directory, compression },
    );
    expect(result.problems).toEqual([]);
    expect(result.path).toBe(`opfs:/${directory}/1`);
    expect(result.last).toMatchObject({ phase: "done", loadedBytes: total, totalBytes: total, leaves: arrays, totalLeaves: arrays });
    expect(result).toMatchObject({ totals: [total], grows: true });
    expect(result.events).toBeGreaterThan(arrays / 2);
    expect(result.mostBuffers).toBe(2);
    expect(result.mostBytes).toBeLessThanOrEqual(32 * 2 ** 20);
    expect(result.left.alive).toBe(0);
    expect(result.alive).toBe(0);
  });
}

test("chunks are compressed by workers, into the bytes that a page without them makes", async ({ browserOnDisk }) => {
  const page = await browserOnDisk.open();
  const { encoded, loaded, isSame, different } = await page.evaluate((directory) => window.internals.compressedSave(directory), directory);
  // The chunks, and two records of the index.
  expect(encoded).toBe(5);
  expect(loaded.filter((name) => name.startsWith("encodeWorker"))).toHaveLength(1);
  // numcodecs' encoder is another one's file.
  expect(loaded.filter((name) => /^(zstd|encodeFrame)-/.test(name))).toEqual([]);
  expect({ isSame, different }).toEqual({ isSame: true, different: [] });
});

test("a save that is stopped halfway leaves the directory as it was, and no buffer", async ({ browserOnDisk }) => {
  const page = await browserOnDisk.open();
  const found = await page.evaluate(async (directory) => {
    const { arraysToSave, saveSeeded, stopHalfway } = window.internals;
    await saveSeeded(directory, { step: 1, seed: 1, bytes: 1_000_000, maxToKeep: null });
    const given = await arraysToSave(48 * 2 ** 20);
    return [await stopHalfway(directory, given, { overwrite: false }), await stopHalfway(directory, given, { overwrite: true })];
  }, directory);
  for (const { outcome, stoppedAt, isSame, after, left } of found) {
    expect(outcome).toBe("Error: enough");
    expect(stoppedAt).toBeGreaterThanOrEqual(0.5);
    expect(stoppedAt).toBeLessThan(1);
    expect(isSame, after.join("\n")).toBe(true);
    expect(left.made).toBeGreaterThan(0);
    expect(left.alive).toBe(0);
  }
  expect(await seedsOf(page)).toEqual({ 1: 1 });
});
