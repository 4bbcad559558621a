import { afterEach, describe, expect, it, vi } from "vitest";
import { Pace } from "./pace.js";

const work = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; );
};

afterEach(() => {
  vi.useRealTimers();
});

describe("Pace", () => {
  it("is due after a while of work, for all who share it, and not after a rest", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const pace = new Pace();
    vi.advanceTimersByTime(8);
    expect(pace.due).toBe(false);
    vi.advanceTimersByTime(1);
    expect(pace.due).toBe(true);
    const first = pace.rest();
    expect(pace.due).toBe(true);
    expect(pace.rest()).toBe(first);
    await first;
    expect(pace.due).toBe(false);
    vi.advanceTimersByTime(9);
    expect(pace.due).toBe(true);
  });

  it("lets timers and messages have their turn", async () => {
    const pace = new Pace();
    let turns = 0;
    let messages = 0;
    const timer = setInterval(() => turns++, 1);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      messages++;
      port2.postMessage(0);
    };
    port2.postMessage(0);
    for (let step = 0; step < 8; step++) {
      work(20);
      if (pace.due) await pace.rest();
    }
    clearInterval(timer);
    port1.close();
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(messages).toBeGreaterThanOrEqual(3);
  });

  it("looks at the clock for every 32nd small step", () => {
    const pace = new Pace();
    const due = vi.spyOn(pace, "due", "get").mockReturnValue(true);
    const answers = Array.from({ length: 96 }, () => pace.dueForSmallStep);
    expect(answers.flatMap((answer, index) => (answer ? [index] : []))).toEqual([31, 63, 95]);
    expect(due).toHaveBeenCalledTimes(3);
  });

  it("rejects a rest of work that was aborted, and only that", async () => {
    const controller = new AbortController();
    const pace = new Pace(controller.signal);
    await pace.rest();
    const reason = new Error("stop");
    const resting = pace.rest();
    controller.abort(reason);
    await expect(resting).rejects.toBe(reason);
    await expect(pace.rest()).rejects.toBe(reason);
  });

  it("waits for no timer, which hidden tabs hold back", async () => {
    vi.useFakeTimers();
    await new Pace().rest();
    expect(vi.getTimerCount()).toBe(0);
  });
});
