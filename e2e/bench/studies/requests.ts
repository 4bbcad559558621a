import { filesOf } from "../data/ensureData.js";
import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/** Counts the requests for the largest file of a step. */
export async function countRequests(study: Study, all: readonly Series[]): Promise<void> {
  for (const series of all) {
    study.log(`requests: ${seriesName(series)}`);
    await attempt(study, series, ["requests"], async () => {
      const [largest] = filesOf(study.data, series.set, "checkpoints").sort((a, b) => b.size - a.size);
      study.server.takeRequests();
      await study.seats.run(series, "time");
      const asked = study.server.takeRequests().filter((path) => path === `${series.set}/${largest?.path}`);
      study.measured.add(series, "requests", asked.length);
    });
  }
}
