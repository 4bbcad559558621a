import { execFileSync } from "node:child_process";
import { arch, cpus, platform, release, totalmem } from "node:os";
import { findChromium } from "../../setup/chromium.mjs";

/** Where something was measured. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly browser: string;
  /** What WebGPU runs on. */
  readonly adapter: string;
  readonly node: string;
}

/** This machine. @param adapter What the page was told of the hardware. */
export function machine(adapter: string): Machine {
  const all = cpus();
  return {
    processor: all[0]?.model ?? "unknown",
    cores: all.length,
    memoryBytes: totalmem(),
    system: `${platform()} ${release()} ${arch()}`,
    browser: browserVersion(),
    adapter,
    node: process.version,
  };
}

const browserVersion = (): string =>
  execFileSync(findChromium() ?? "chromium", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
