import type { Quantity } from "../measurements.js";
import type { Need } from "../rows.js";
import { type Series, seriesName } from "../series.js";
import { measureBlocks } from "./blocks.js";
import { measureColdStarts } from "./coldStarts.js";
import { measureHeaps } from "./heaps.js";
import { measureMemory } from "./memory.js";
import { countRequests } from "./requests.js";
import type { Study } from "./study.js";
import { measureTimes } from "./times.js";

/** Which study measures what, in the order in which they run. */
const studies: readonly { readonly quantities: readonly Quantity[]; run(study: Study, all: readonly Series[]): Promise<void> }[] = [
  { quantities: ["milliseconds"], run: measureTimes },
  { quantities: ["requests"], run: countRequests },
  { quantities: ["longestGap"], run: measureBlocks },
  { quantities: ["coldMilliseconds"], run: measureColdStarts },
  { quantities: ["heapBytes"], run: measureHeaps },
  { quantities: ["rendererGrowth", "gpuGrowth"], run: measureMemory },
];

/** Measures what is needed, each thing once. */
export async function runStudies(study: Study, needs: readonly Need[]): Promise<void> {
  for (const { quantities, run } of studies) {
    const wanted = needs.filter(({ quantity }) => quantities.includes(quantity));
    await run(study, [...new Map(wanted.map(({ series }) => [seriesName(series), series])).values()]);
  }
}
