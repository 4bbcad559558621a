import { execFileSync } from "node:child_process";
import { arch, cpus, loadavg, platform, release, totalmem } from "node:os";
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
  /** How many processes had wanted to run in the minute before, on average: more than none means that others slowed the bench. */
  readonly loadBefore: number;
}

/** Of the last minute; to be asked before the bench adds to it. */
export const load = (): number => loadavg()[0] ?? 0;

/**
 * This machine.
 * @param adapter What the page was told of the hardware.
 * @param loadBefore What {@link load} was before the bench.
 */
export function machine(adapter: string, loadBefore: number): Machine {
  const all = cpus();
  return {
    processor: all[0]?.model ?? "unknown",
    cores: all.length,
    memoryBytes: totalmem(),
    system: `${platform()} ${release()} ${arch()}`,
    browser: browserVersion(),
    adapter,
    node: process.version,
    loadBefore,
  };
}

/** The machine in a line. */
export const machineLine = ({ processor, cores, memoryBytes, browser, adapter }: Machine): string =>
  `${processor}, ${cores} cores, ${(memoryBytes / 2 ** 30).toFixed(0)} GiB; ${browser}; WebGPU on ${adapter}`;

const browserVersion = (): string =>
  execFileSync(findChromium() ?? "chromium", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
