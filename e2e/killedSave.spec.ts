import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright/test";
import { browserOnDisk } from "./page/onDisk.js";
import { type Random, randomFrom } from "./page/random.js";
import type { SeededSave } from "./page/saving/seededSteps.js";
import { expect, test } from "./page/test.js";
import { processesOf } from "./setup/processMemory.js";

// The tab's process is killed in the middle of saves and overwrites: each step is as it was before or complete.

test.describe.configure({ mode: "parallel" });

const mebibyte = 2 ** 20;
const directory = "runs/killed";

/** When a tab is killed: some milliseconds after the save was so far, as `saveSeeded` tells it. */
interface Moment {
  readonly far: number;
  readonly milliseconds: number;
}

/** 30 moments over a whole save: its start, its bytes, the index and the marker, and, once committed, the removal and moving of files. */
function momentsOf(random: Random): Moment[] {
  const among = (count: number, far: (index: number) => number, longest: number) =>
    Array.from({ length: count }, (_, index) => ({ far: far(index), milliseconds: random.integer(0, longest) }));
  return random.shuffle([
    ...among(2, () => 0, 10),
    ...among(16, (index) => (index + 1) / 17, 10),
    ...among(6, () => 1, 15),
    ...among(6, () => 2, 15),
  ]);
}

/** Saves on a page whose process is killed at the moment, or that is done; whether the save had resolved. */
async function saveAndKill(page: Page, save: SeededSave, { far, milliseconds }: Moment): Promise<boolean> {
  // Nothing else runs below this process now.
  const renderers = processesOf("renderer", process.pid);
  expect(renderers.length).toBeGreaterThan(0);
  let isResolved = false;
  let reached = () => {};
  const isReached = new Promise<void>((resolve) => {
    reached = resolve;
  });
  await page.exposeFunction("tell", (now: number) => {
    if (now === 3) isResolved = true;
    if (now >= far) reached();
  });
  const failures: unknown[] = [];
  const saving = page
    .evaluate(
      ({ directory, save }) =>
        window.internals.saveSeeded(directory, save, (far) => void (window as unknown as { tell(far: number): Promise<void> }).tell(far)),
      { directory, save },
    )
    .catch((error: unknown) => failures.push(error));
  await Promise.race([isReached, saving]);
  await delay(milliseconds);
  for (const id of renderers) killed(id);
  await saving;
  for (const failure of failures) expect(String(failure)).toMatch(/crash|closed/i);
  await page.close();
  return isResolved;
}

function killed(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // it has ended by itself
  }
}

const seedsOf = (page: Page) => page.evaluate((directory) => window.internals.seedsOf(directory), directory);

const foldersOf = (page: Page) =>
  page.evaluate(async (directory) => (await window.orbax.opfsStorage(directory).list("")).directories, directory);

for (const { title, bytes, start, next, maxToKeep } of [
  {
    title: "a save of 64 MiB that removes the step before",
    bytes: 64 * mebibyte,
    start: [{ step: 1, seed: 1, bytes: 64 * mebibyte }],
    next: (latest: number) => ({ step: latest + 1 }),
    maxToKeep: 1,
  },
  {
    title: "an overwrite of 64 MiB",
    bytes: 64 * mebibyte,
    start: [
      { step: 1, seed: 1, bytes: 64 * mebibyte },
      { step: 2, seed: 2, bytes: 1000 },
    ],
    next: () => ({ step: 1, overwrite: true }),
    maxToKeep: null,
  },
]) {
  test(`${title}, killed at 30 moments, leaves every step whole`, async ({ pageServer }) => {
    const browser = browserOnDisk(pageServer.url);
    try {
      let page = await browser.open();
      for (const save of start)
        await page.evaluate(({ directory, save }) => window.internals.saveSeeded(directory, { ...save, maxToKeep: null }), {
          directory,
          save,
        });
      let before = await seedsOf(page);
      expect(before).toEqual(Object.fromEntries(start.map(({ step, seed }) => [step, seed])));
      const committed: boolean[] = [];
      for (const [index, moment] of momentsOf(randomFrom(20_261_130)).entries()) {
        const save = { ...next(latestOf(before)), seed: 10 + index, bytes, maxToKeep };
        const isResolved = await saveAndKill(page, save, moment);
        // The profile is there again in a new tab; each few times the whole browser was closed meanwhile.
        if (index % 6 === 5) await browser.end();
        page = await browser.open();
        const after = await seedsOf(page);
        const place = `${JSON.stringify({ index, ...moment, isResolved })}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`;
        const isCommitted = after[save.step] === save.seed;
        if (isResolved) expect(isCommitted, place).toBe(true);
        if (!isCommitted) expect(after, place).toEqual(before);
        const others = Object.keys(before).filter((step) => Number(step) !== save.step && (step in after || maxToKeep === null));
        if (isCommitted) expect(after, place).toEqual({ ...seedsAt(before, others), [save.step]: save.seed });
        committed.push(isCommitted);
        before = after;
      }
      // Both ends of a save were met.
      expect(committed.filter((is) => !is).length).toBeGreaterThan(5);
      expect(committed.filter((is) => is).length).toBeGreaterThan(3);
      // What was left goes with the next tab that opens the store, as soon as the browser has freed the dead one's locks.
      await expect
        .poll(async () => [Object.keys(await seedsOf(page)), await foldersOf(page)])
        .toEqual([Object.keys(before), Object.keys(before)]);
      const last = { ...next(latestOf(before)), seed: 99, bytes: 1000, maxToKeep };
      await page.evaluate(({ directory, last }) => window.internals.saveSeeded(directory, last), { directory, last });
      expect(await foldersOf(page)).toEqual(Object.keys(await seedsOf(page)));
    } finally {
      await browser.remove();
    }
  });
}

const latestOf = (seeds: Record<number, unknown>) => Math.max(...Object.keys(seeds).map(Number));

const seedsAt = (seeds: Record<string, number | string>, steps: readonly string[]) =>
  Object.fromEntries(steps.map((step) => [step, seeds[step]]));
