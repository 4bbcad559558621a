import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { canWatchMemory, memoryOf, processesOf, watchMemory } from "./processMemory.js";

const megabyte = 1024 * 1024;

/** A child that says when it is there and, when it is told to, takes 80 MB, lets go of them and says so. */
const script = `process.stdout.write("ready");
  process.stdin.on("data", () => { Buffer.alloc(80 * 1024 * 1024, 1); process.stdout.write("done"); });`;

describe.runIf(canWatchMemory)("the memory of other processes", () => {
  it("is seen with its peak, which may have been short", async () => {
    const child = spawn(process.execPath, ["-e", script, "--", "--type=renderer"], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      await once(child.stdout, "data");
      expect(processesOf("renderer", process.pid)).toEqual([child.pid]);
      const used = watchMemory("renderer");
      expect(used().growthBytes).toBeLessThan(20 * megabyte);
      child.stdin.write("go");
      await once(child.stdout, "data");
      const { baseBytes, peakBytes, growthBytes } = used();
      expect(growthBytes).toBeGreaterThan(70 * megabyte);
      expect(growthBytes).toBeLessThan(140 * megabyte);
      expect(peakBytes - baseBytes).toBe(growthBytes);
    } finally {
      child.kill();
    }
  });

  it("needs a process of the type", () => {
    expect(() => watchMemory("gpu-process")).toThrow(/no process of type gpu-process/);
  });

  it("is resident and may be shared; an ended process has none", () => {
    const { resident = 0, shared = -1 } = memoryOf(process.pid) ?? {};
    expect(resident).toBeGreaterThan(10 * megabyte);
    expect(shared).toBeGreaterThanOrEqual(0);
    expect(memoryOf(2 ** 30)).toBeUndefined();
  });
});
