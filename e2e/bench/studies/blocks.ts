import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/** Measures how long the main thread was busy at a stretch. */
export async function measureBlocks(study: Study, all: readonly Series[]): Promise<void> {
  for (const series of all) {
    study.log(`longest block: ${seriesName(series)}`);
    await attempt(study, series, ["longestGap"], async () => {
      await study.seats.prepare(series);
      await study.seats.run(series, "time");
      for (let rep = 0; rep < study.reps; rep += 1) {
        const { longestGap } = await study.seats.run(series, "pings");
        if (longestGap === undefined) throw new Error("the page did not ping itself");
        study.measured.add(series, "longestGap", longestGap);
      }
    });
  }
}
