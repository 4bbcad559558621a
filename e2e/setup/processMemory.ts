import { readdirSync, readFileSync, writeFileSync } from "node:fs";

// What Linux tells of other processes' memory, under /proc.

/** Kinds of processes that Chromium starts, by their `--type`. */
export type ProcessType = "renderer" | "gpu-process";

/** Memory of a process that is resident now, in bytes. */
export interface ProcessMemory {
  readonly resident: number;
  /** The part that other processes may share, such as what a page hands over to the GPU process; files are not counted. */
  readonly shared: number;
}

/** Resident memory of some processes over a time, added up, in bytes. */
export interface MemoryUse {
  /** When the watch began. */
  readonly baseBytes: number;
  /** The most since then, of each process at its own time. */
  readonly peakBytes: number;
  readonly growthBytes: number;
  /** Growth of the process that grew most: of several renderers, the one of the page that did something. */
  readonly largestGrowthBytes: number;
}

/** Whether this system tells the memory of other processes. */
export const canWatchMemory = process.platform === "linux";

/**
 * Watches the resident memory (RSS) of Chromium's processes of one type below `root`, by default this process, which launched
 * the browser. The kernel itself keeps the peaks, so nothing is missed between two looks.
 * @returns A function that says how much they used since the call.
 * @throws Error where there is no such process.
 */
export function watchMemory(type: ProcessType, root = process.pid): () => MemoryUse {
  const ids = processesOf(type, root);
  if (ids.length === 0) throw new Error(`no process of type ${type} runs below process ${root}`);
  const base = ids.map((id) => {
    writeFileSync(`/proc/${id}/clear_refs`, "5"); // sets the peak, VmHWM, to what is resident now
    return { id, bytes: bytesOf(id, "VmRSS") ?? 0 };
  });
  return () => {
    const growths = base.map(({ id, bytes }) => Math.max(0, (bytesOf(id, "VmHWM") ?? 0) - bytes));
    const baseBytes = base.reduce((sum, { bytes }) => sum + bytes, 0);
    const growthBytes = growths.reduce((sum, growth) => sum + growth, 0);
    return { baseBytes, peakBytes: baseBytes + growthBytes, growthBytes, largestGrowthBytes: Math.max(...growths) };
  };
}

/** What a process holds now; undefined where it has ended. */
export function memoryOf(id: number): ProcessMemory | undefined {
  const resident = bytesOf(id, "VmRSS");
  return resident === undefined ? undefined : { resident, shared: bytesOf(id, "RssShmem") ?? 0 };
}

/** Ids of Chromium's processes of a type that descend from `root`. */
export const processesOf = (type: ProcessType, root: number): number[] =>
  processTree(root).flatMap(({ id, command }) => (command.split(" ").includes(`--type=${type}`) ? [id] : []));

/** The process `root` and all that descend from it, with their command lines. */
function processTree(root: number): { readonly id: number; readonly command: string }[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ id: Number(name), parent: numberOf(Number(name), "PPid") }));
  const family = new Set([root]);
  for (let before = 0; before < family.size; ) {
    before = family.size; // each round finds at least one more generation
    for (const { id, parent } of all) if (parent !== undefined && family.has(parent)) family.add(id);
  }
  return [...family].map((id) => ({ id, command: textOf(`/proc/${id}/cmdline`).replaceAll("\0", " ") }));
}

/** A size of a process's status in bytes; the kernel gives kilobytes. */
function bytesOf(id: number, name: "VmRSS" | "VmHWM" | "RssShmem"): number | undefined {
  const kilobytes = numberOf(id, name);
  return kilobytes === undefined ? undefined : kilobytes * 1024;
}

/** A number of a process's status; undefined where the process has ended. */
function numberOf(id: number, name: string): number | undefined {
  const number = new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(textOf(`/proc/${id}/status`))?.[1];
  return number === undefined ? undefined : Number(number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
