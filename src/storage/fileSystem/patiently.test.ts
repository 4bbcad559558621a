import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { refusal } from "./fakeFileSystem.testing.js";
import { patiently } from "./patiently.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("waits until a file is closed", async () => {
  let tries = 0;
  const change = patiently("a", async () => (++tries < 4 ? Promise.reject(refusal("NoModificationAllowedError")) : "done"), {});
  await vi.runAllTimersAsync();
  expect(await change).toBe("done");
});

test("gives up after about two seconds, and says that somebody has it open", async () => {
  const cause = refusal("NoModificationAllowedError");
  const change = patiently("a", () => Promise.reject(cause), {});
  change.catch(() => {});
  await vi.advanceTimersByTimeAsync(3000);
  await expect(change).rejects.toMatchObject({
    name: "StorageError",
    reason: "busy",
    path: "a",
    message: expect.stringMatching(/restore that reads/),
    cause,
  });
});

test("does not try again what is refused for another reason", async () => {
  let tries = 0;
  const change = patiently("a", () => Promise.reject(refusal(["UnknownError"][tries++] ?? "")), {});
  await expect(change).rejects.toMatchObject({ reason: "io" });
  expect(tries).toBe(1);
});

test("stops waiting on abort", async () => {
  const controller = new AbortController();
  const change = patiently("a", () => Promise.reject(refusal("NoModificationAllowedError")), controller);
  change.catch(() => {});
  await vi.advanceTimersByTimeAsync(15);
  controller.abort("enough");
  await expect(change).rejects.toBe("enough");
});
