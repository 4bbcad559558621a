import { describe, expect, it } from "vitest";
import { Pace } from "./pace.js";

const work = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

describe("Pace", () => {
  it("is due after a while of work, for all who share it, and not after a rest", async () => {
    const pace = new Pace();
    expect(pace.due).toBe(false);
    work(60);
    expect(pace.due).toBe(true);
    const first = pace.rest();
    expect(pace.due).toBe(true);
    expect(pace.rest()).toBe(first);
    await first;
    expect(pace.due).toBe(false);
  });

  it("lets timers have their turn", async () => {
    const pace = new Pace();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    for (let step = 0; step < 4; step++) {
      work(60);
      if (pace.due) await pace.rest();
    }
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});
