import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/** Measures by how much the heap of a page that was just loaded grows. */
export async function measureHeaps(study: Study, all: readonly Series[]): Promise<void> {
  for (const series of all) {
    study.log(`heap: ${seriesName(series)}`);
    await attempt(study, series, ["heapBytes"], async () => {
      await study.seats.prepare(series);
      for (let rep = 0; rep < study.reps; rep += 1) {
        await (await study.seats.of(series.isolation)).reload();
        const { heapBytes, workerHeapBytes = 0 } = await study.seats.run(series, "heap");
        if (heapBytes === undefined) throw new Error("the page did not tell its heap");
        study.measured.add(series, "heapBytes", heapBytes);
        study.measured.add(series, "workerHeapBytes", workerHeapBytes);
      }
    });
  }
}
