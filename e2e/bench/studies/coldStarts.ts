import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/** Times the first restore of a page that was just loaded. */
export async function measureColdStarts(study: Study, all: readonly Series[]): Promise<void> {
  for (const series of all) {
    study.log(`cold start: ${seriesName(series)}`);
    await attempt(study, series, ["coldMilliseconds"], async () => {
      await study.seats.prepare(series);
      for (let rep = 0; rep < study.reps; rep += 1) {
        await (await study.seats.of(series.isolation)).reload();
        const { milliseconds } = await study.seats.run(series, "time");
        study.measured.add(series, "coldMilliseconds", milliseconds);
      }
    });
  }
}
