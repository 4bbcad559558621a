import { afterEach, expect, test, vi } from "vitest";
import { lazyPool } from "./lazyPool.js";

afterEach(() => vi.unstubAllGlobals());

const script = { default: class {} as never };
const options = { most: 3, idleMs: 10 };

test("a pool is made once, with no more workers than there are cores", async () => {
  vi.stubGlobal("Worker", class {});
  for (const [hardwareConcurrency, size] of [
    [8, 3],
    [2, 2],
    [0, 1],
  ] as const) {
    vi.stubGlobal("navigator", { hardwareConcurrency });
    const load = vi.fn(async () => script);
    const pool = lazyPool({ ...options, load });
    expect(load).not.toHaveBeenCalled();
    const [first, second] = await Promise.all([pool(), pool()]);
    expect(first).toBe(second);
    expect(first?.size).toBe(size);
    expect(load).toHaveBeenCalledTimes(1);
  }
});

test("a script that cannot be loaded is tried again by the next who asks", async () => {
  vi.stubGlobal("Worker", class {});
  vi.stubGlobal("navigator", { hardwareConcurrency: 4 });
  const load = vi.fn(async () => script).mockRejectedValueOnce(new TypeError("offline"));
  const pool = lazyPool({ ...options, load });
  expect(await pool()).toBeUndefined();
  expect(await pool()).toBeDefined();
});

test("where there are no workers none is loaded", async () => {
  vi.stubGlobal("Worker", undefined);
  const load = vi.fn(async () => script);
  expect(await lazyPool({ ...options, load })()).toBeUndefined();
  expect(load).not.toHaveBeenCalled();
});
