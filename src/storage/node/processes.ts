import { hostname } from "node:os";

/** A process among those of all machines that share a folder. */
export interface ProcessName {
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since the Unix epoch; tells it from one of the same number before, as after a restart of a container. */
  readonly started: number;
}

/** This process (Node). */
export const thisProcess = (): ProcessName => ({
  pid: process.pid,
  host: hostname(),
  started: Math.round(Date.now() - process.uptime() * 1000),
});

/** Starts of one process as it tells them at two times differ less, in milliseconds. */
const clockError = 5000;

/** Whether a process has ended; false where nobody here can tell. */
export function hasEnded({ pid, host, started }: ProcessName): boolean {
  const me = thisProcess();
  if (host !== me.host) return false;
  if (pid === me.pid) return Math.abs(started - me.started) > clockError;
  try {
    process.kill(pid, 0);
    return false;
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "ESRCH";
  }
}

/** Reads JSON of a {@link ProcessName}; undefined where it names no process. */
export function parseProcess(text: string): ProcessName | undefined {
  try {
    const { pid, host, started } = JSON.parse(text);
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, host: String(host), started: Number(started) } : undefined;
  } catch {
    return undefined;
  }
}
