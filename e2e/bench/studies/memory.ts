import { watchMemory } from "../../setup/processMemory.js";
import { bytesOf } from "../data/ensureData.js";
import { type Series, seriesName } from "../series.js";
import { attempt, type Study } from "./study.js";

/** A restore's or save's memory hardly varies, and each repetition starts a browser. */
const mostReps = 3;

/** Measures by how much Chromium's processes grow over those of a blank page with a device, in a browser that was just started. */
export async function measureMemory(study: Study, all: readonly Series[]): Promise<void> {
  for (const series of all) {
    study.log(`memory: ${seriesName(series)}`);
    await attempt(study, series, ["rendererGrowth", "gpuGrowth"], async () => {
      await study.seats.prepare(series);
      for (let rep = 0; rep < Math.min(study.reps, mostReps); rep += 1) await growOnce(study, series);
    });
  }
}

async function growOnce({ seats, data, measured }: Study, series: Series): Promise<void> {
  const { processId } = await seats.fresh(series.isolation);
  const renderer = watchMemory("renderer", processId);
  const gpu = watchMemory("gpu-process", processId);
  await seats.run(series, "time");
  measured.add(series, "rendererGrowth", renderer().largestGrowthBytes);
  measured.add(series, "gpuGrowth", gpu().growthBytes - bytesOf(data, series.set));
  await seats.check(series);
}
