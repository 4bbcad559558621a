import type { BenchData } from "../data/ensureData.js";
import type { Measurements, Quantity } from "../measurements.js";
import type { Seats } from "../seats.js";
import { type Series, seriesName } from "../series.js";
import type { BenchServer } from "../server/benchServer.js";

/** What a study works with. */
export interface Study {
  readonly seats: Seats;
  readonly server: BenchServer;
  readonly data: BenchData;
  readonly measured: Measurements;
  readonly reps: number;
  readonly log: (line: string) => void;
}

/** Does a part of a study; a series that cannot be measured does not keep the others from it. @returns Whether it went well. */
export async function attempt(study: Study, series: Series, quantities: readonly Quantity[], work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    for (const quantity of quantities) study.measured.fail(series, quantity, reason);
    study.log(`${seriesName(series)}: ${reason}`);
    return false;
  }
}
