import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/**
 * Times series in pages that stay open. Those on one set in one place take turns, so that what slows the machine for a while slows
 * all of them; the first time of each is thrown away.
 */
export async function measureTimes(study: Study, all: readonly Series[]): Promise<void> {
  for (const group of groupsOf(all)) {
    study.log(`times: ${group.map(seriesName).join(" | ")}`);
    const warm: Series[] = [];
    for (const series of group) {
      const work = () =>
        study.seats
          .prepare(series)
          .then(() => study.seats.run(series, "time"))
          .then(() => study.seats.check(series));
      if (await attempt(study, series, ["milliseconds"], work)) warm.push(series);
    }
    for (let rep = 0; rep < study.reps; rep += 1) {
      for (const series of rotated(warm, rep)) await timeOnce(study, series);
    }
  }
}

const timeOnce = (study: Study, series: Series) =>
  attempt(study, series, ["milliseconds"], async () => {
    const { milliseconds } = await study.seats.run(series, "time");
    await study.seats.check(series);
    study.measured.add(series, "milliseconds", milliseconds);
  });

function groupsOf(all: readonly Series[]): Series[][] {
  const groups = new Map<string, Series[]>();
  for (const series of all) {
    const key = `${series.place} ${series.set}`;
    groups.set(key, [...(groups.get(key) ?? []), series]);
  }
  return [...groups.values()];
}

/** Each round begins with another one, since what ran before leaves traces. */
const rotated = (all: readonly Series[], by: number): Series[] => all.map((_, at) => all[(at + by) % all.length] as Series);
