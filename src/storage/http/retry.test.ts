import { expect, test } from "vitest";
import { testClock } from "./clock.testing.js";
import { Attempts, parseRetryAfter, systemClock } from "./retry.js";

const error = (tries: number) => new Error(`after ${tries}`);

test("waits a random time within bounds that double, then throws with the number of tries", async () => {
  const clock = testClock(1);
  const attempts = new Attempts(7, clock);
  for (let failure = 0; failure < 7; failure += 1) await attempts.failed({ error });
  await expect(attempts.failed({ error })).rejects.toThrow("after 8");
  expect(clock.sleeps).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
  const none = testClock(0);
  await new Attempts(1, none).failed({ error });
  expect(none.sleeps).toEqual([0]);
  await expect(new Attempts(0, none).failed({ error })).rejects.toThrow("after 1");
});

test("waits at least as long as the server asks for, and no shorter than without its word", async () => {
  const clock = testClock(1);
  const attempts = new Attempts(9, clock);
  for (const retryAfter of [0, 0, 5000, 120_000]) await attempts.failed({ error, retryAfter });
  expect(clock.sleeps).toEqual([250, 500, 5000, 30_000]);
});

test("counts anew after real progress", async () => {
  const attempts = new Attempts(1, testClock());
  for (let failure = 0; failure < 10; failure += 1) await attempts.failed({ error, progress: 64 * 1024 });
  await expect(attempts.failed({ error, progress: 64 * 1024 - 1 })).rejects.toThrow("after 2");
});

test("reads Retry-After as seconds or as a date", () => {
  const now = Date.UTC(2026, 0, 1);
  expect(parseRetryAfter("120", now)).toBe(120_000);
  expect(parseRetryAfter(" 0 ", now)).toBe(0);
  expect(parseRetryAfter("Thu, 01 Jan 2026 00:01:00 GMT", now)).toBe(60_000);
  expect(parseRetryAfter("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
  for (const header of [null, "", "soon", "-"]) expect(parseRetryAfter(header, now)).toBeUndefined();
});

test("the system's sleep ends in time, or at once on abort", async () => {
  const start = performance.now();
  await systemClock.sleep(20);
  expect(performance.now() - start).toBeGreaterThanOrEqual(15);
  const controller = new AbortController();
  const sleep = systemClock.sleep(60_000, controller.signal);
  controller.abort(new Error("enough"));
  await expect(sleep).rejects.toThrow("enough");
  await expect(systemClock.sleep(1, AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
});
