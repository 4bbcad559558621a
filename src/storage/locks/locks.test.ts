import { afterEach, describe, expect, it, vi } from "vitest";
import { threadLocks } from "./threadLocks.js";
import { webLocks } from "./webLocks.js";

afterEach(() => vi.unstubAllGlobals());

const alone = { mode: "exclusive", wait: true } as const;
const together = { mode: "shared", wait: true } as const;

/** Work that ends when it is told. */
function work() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { run: () => ended, end };
}

describe.each([
  ["threadLocks", () => threadLocks()],
  ["webLocks where a browser has none", () => webLocks(`folder ${Math.random()}`)],
])("%s", (_, make) => {
  it("lets one alone at a time, in the order they came, and many together", async () => {
    vi.stubGlobal("navigator", {});
    const locks = make();
    const log: string[] = [];
    const first = work();
    const holding = [
      locks.hold("a", together, first.run),
      locks.hold("a", alone, async () => void log.push("alone")),
      locks.hold("a", together, async () => void log.push("after")),
      locks.hold("b", alone, async () => void log.push("other name")),
    ];
    await new Promise((resolve) => setTimeout(resolve));
    expect(log).toEqual(["other name"]);
    expect(await locks.hold("a", { mode: "shared", wait: false }, async () => 1)).toBeUndefined();
    first.end();
    await Promise.all(holding);
    expect(log).toEqual(["other name", "alone", "after"]);
    expect(await locks.hold("a", { mode: "exclusive", wait: false }, async () => 1)).toEqual({ value: 1 });
  });

  it("frees the lock of work that fails, and lets go of who aborts", async () => {
    vi.stubGlobal("navigator", {});
    const locks = make();
    await expect(locks.hold("a", alone, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    const first = work();
    const holding = locks.hold("a", alone, first.run);
    const controller = new AbortController();
    const waiting = locks.hold("a", { ...alone, signal: controller.signal }, async () => "never");
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    first.end();
    await holding;
    expect(await locks.hold("a", alone, async () => "free")).toEqual({ value: "free" });
  });
});

describe("webLocks", () => {
  it("asks the browser for a lock of that name", async () => {
    const request = vi.fn(async (_: string, options: LockOptions, run: (lock: unknown) => unknown) => run(options.ifAvailable ? null : {}));
    vi.stubGlobal("navigator", { locks: { request } });
    const { signal } = new AbortController();
    expect(await webLocks("opfs:/runs").hold("writer", { ...alone, signal }, async () => 1)).toEqual({ value: 1 });
    expect(await webLocks("opfs:/runs").hold("writer", { mode: "shared", wait: false, signal }, async () => 1)).toBeUndefined();
    expect(request.mock.calls.map(([name, options]) => [name, options])).toEqual([
      ["orbax-webgpu writer opfs:/runs", { mode: "exclusive", signal }],
      ["orbax-webgpu writer opfs:/runs", { mode: "shared", ifAvailable: true }],
    ]);
  });
});
