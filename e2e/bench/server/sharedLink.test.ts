import { describe, expect, it } from "vitest";
import { SharedLink } from "./sharedLink.js";

/** A clock that goes on when somebody waits, `late` milliseconds longer than asked. */
function clockWithLateTimers(late: number) {
  let time = 1000;
  return {
    now: () => time,
    async wait(milliseconds: number) {
      time = Math.max(time, this.now() + milliseconds + late);
    },
    skip: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

const speed = { latencyMs: 20, bytesPerSecond: 1e6 };

async function send(link: SharedLink, pieces: number): Promise<void> {
  for (let piece = 0; piece < pieces; piece += 1) await link.pass(10_000); // 10 ms each
}

describe("a slow network", () => {
  it("takes the bytes' time", async () => {
    const clock = clockWithLateTimers(0);
    await send(new SharedLink(speed, clock), 100);
    expect(clock.now()).toBeCloseTo(2000);
  });

  it("takes no longer where timers come late", async () => {
    const clock = clockWithLateTimers(3);
    await send(new SharedLink(speed, clock), 100);
    expect(clock.now()).toBeGreaterThanOrEqual(2000);
    expect(clock.now()).toBeLessThan(2010);
  });

  it("does not make up for time in which nobody sent", async () => {
    const clock = clockWithLateTimers(0);
    const link = new SharedLink(speed, clock);
    await send(link, 50);
    clock.skip(5000);
    await send(link, 50);
    expect(clock.now()).toBeCloseTo(7000);
  });

  it("lets an answer wait", async () => {
    const clock = clockWithLateTimers(0);
    await new SharedLink(speed, clock).answer();
    expect(clock.now()).toBe(1020);
  });
});
