import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumArguments, findChromium } from "./chromium.mjs";

/** A Chromium that nothing but its first page's own code drives. */
export interface PlainChromium {
  readonly processId: number;
  close(): Promise<void>;
}

/**
 * Starts a Chromium without a window or a debugger on a page. Debuggers, Playwright's too, keep copies of what a page
 * downloads in the page's own process, up to 100 MB a request, which would be measured as the page's.
 */
export function startPlainChromium(url: string): PlainChromium {
  const executable = findChromium();
  if (executable === undefined) throw new Error("there is no Chromium on this machine; `npm test` installs one");
  const profile = mkdtempSync(join(tmpdir(), "orbax-webgpu-chromium-"));
  const args = [...chromiumArguments(), "--headless=new", `--user-data-dir=${profile}`, url];
  // In a group of its own, since some of its processes outlive the first one by seconds, and go on writing to the profile.
  const browser = spawn(executable, args, { stdio: "ignore", detached: true });
  const group = -(browser.pid ?? 0);
  const stop = () => {
    try {
      process.kill(group, "SIGKILL");
    } catch {
      // all have ended
    }
  };
  process.once("exit", stop);
  return {
    processId: browser.pid ?? 0,
    async close() {
      const ended = browser.exitCode === null && browser.signalCode === null ? once(browser, "exit") : undefined;
      stop();
      await ended;
      process.off("exit", stop);
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
