import { join } from "node:path";
import { expect, test } from "playwright/test";
import type { MemoryReport, Moment } from "./page/memory.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { type PlainChromium, startPlainChromium } from "./setup/plainChromium.js";
import { type MemoryUse, watchMemory } from "./setup/processMemory.js";
import { type LargeArray, largeArray } from "./synthetic/largeArray.js";
import { stepFiles } from "./synthetic/stepFiles.js";

// Half a gigabyte through 16 MiB: what the limiters held, and what the operating system says that the page's process grew by.

const mebibyte = 2 ** 20;
const arrayBytes = 512 * mebibyte;
const budget = 16 * mebibyte;
/** Growth of the renderer's resident memory (RSS) over the loaded page, in bytes. It maps no buffer of the GPU process. */
const mostGrowth = 96_000_000;
/** A mirror reads and writes a file for each 4 MiB, which leaves memory until the browser collects it. */
const mostGrowthWithMirror = 280_000_000;

let array: LargeArray;

test.beforeAll(async () => {
  array = await largeArray(arrayBytes, 20_260_801);
});

for (const [title, chunkBytes] of [
  ["one frame", arrayBytes],
  ["4 MiB chunks", 4 * mebibyte],
] as const) {
  test(`a 512 MiB array in ${title} goes through a budget of 16 MiB`, async () => {
    const { report, memory } = await measure(chunkBytes);
    expect(report.wrongWords).toBe(0);
    const together = report.peaks.reduce((sum, peak) => sum + peak, 0);
    expect(together).toBeGreaterThan(mebibyte);
    expect(together).toBeLessThanOrEqual(budget);
    expect(memory.largestGrowthBytes).toBeLessThanOrEqual(mostGrowth);
  });
}

test("a 512 MiB array goes through a mirror, first from its source and then from the cache", async () => {
  const { report, memory } = await measure(4 * mebibyte, "&mirror=kept&times=2");
  expect(report.wrongWords).toBe(0);
  expect(memory.largestGrowthBytes).toBeLessThanOrEqual(mostGrowthWithMirror);
});

/** Restores in a Chromium of its own: what its page reports, and how much the page's process grew. */
async function measure(chunkBytes: number, query = ""): Promise<{ report: MemoryReport; memory: MemoryUse }> {
  const running: { server?: RunningServer; chromium?: PlainChromium } = {};
  try {
    return await new Promise((resolve, reject) => {
      let used = (): MemoryUse => ({ baseBytes: 0, peakBytes: 0, growthBytes: 0, largestGrowthBytes: Number.POSITIVE_INFINITY });
      const onTold = (moment: Moment) => {
        if (moment.kind === "loaded") used = watchMemory("renderer", running.chromium?.processId);
        else if (moment.kind === "failed") reject(new Error(moment.message));
        else resolve({ report: moment.report, memory: used() });
      };
      start({ chunkBytes, query }, onTold, running).catch(reject);
    });
  } finally {
    await running.chromium?.close();
    await running.server?.close();
  }
}

/** Serves the page, the checkpoint and what should stand in it, and opens the page. */
async function start(
  { chunkBytes, query }: { readonly chunkBytes: number; readonly query: string },
  onTold: (moment: Moment) => void,
  running: { server?: RunningServer; chromium?: PlainChromium },
): Promise<void> {
  const samples = Object.entries(array.samples()).map(([name, words]) => [name, new Uint8Array(words.buffer)] as const);
  running.server = await startServer({
    root: join(import.meta.dirname, "results", "page"),
    mounts: {
      "/store/": stepFiles(1, "model", [array.inChunksOf(chunkBytes)]),
      "/samples/": new Map(samples),
      "/told/": (path) => {
        onTold(JSON.parse(path.slice(1)));
        return new Uint8Array();
      },
    },
  });
  running.chromium = startPlainChromium(`${running.server.url}/memory.html?budget=${budget}${query}`);
}
