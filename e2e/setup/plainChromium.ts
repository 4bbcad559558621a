import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { chromiumArguments, findChromium } from "./chromium.mjs";

/** A Chromium that nothing but its first page's own code drives. */
export interface PlainChromium {
  readonly processId: number;
  /** Resolves when it has ended, by itself or closed. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface PlainChromiumOptions {
  /** Folder of a profile that stays; without it, one is made and removed. */
  readonly profile?: string;
  /** Further command-line arguments. */
  readonly args?: readonly string[];
}

/** How long a browser with a profile that stays may take to write it, in milliseconds. */
const longestGoodbye = 60_000;

/**
 * Starts a Chromium without a window or a debugger on a page. Debuggers, Playwright's too, keep copies of what a page
 * downloads in the page's own process, up to 100 MB a request, which would be measured as the page's.
 */
export function startPlainChromium(url: string, { profile, args = [] }: PlainChromiumOptions = {}): PlainChromium {
  const executable = findChromium();
  if (executable === undefined) throw new Error("there is no Chromium on this machine; `npm test` installs one");
  const folder = profile ?? mkdtempSync(join(tmpdir(), "orbax-webgpu-chromium-"));
  mkdirSync(folder, { recursive: true });
  const all = [...chromiumArguments(), "--headless=new", `--user-data-dir=${folder}`, ...args, url];
  // In a group of its own, since some of its processes outlive the first one by seconds, and go on writing to the profile.
  const browser = spawn(executable, all, { stdio: "ignore", detached: true });
  const group = -(browser.pid ?? 0);
  const stop = () => {
    try {
      process.kill(group, "SIGKILL");
    } catch {
      // all have ended
    }
  };
  process.once("exit", stop);
  const ended = once(browser, "exit").then(() => {});
  return {
    processId: browser.pid ?? 0,
    ended,
    async close() {
      if (profile !== undefined) await sayGoodbye(browser, ended);
      stop();
      await ended;
      process.off("exit", stop);
      if (profile === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** Asks a browser to end by itself, so that its profile is whole. */
async function sayGoodbye(browser: ChildProcess, ended: Promise<void>): Promise<void> {
  browser.kill("SIGTERM");
  const late = new AbortController();
  await Promise.race([ended, delay(longestGoodbye, undefined, { signal: late.signal }).catch(() => {})]);
  late.abort();
}
