import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright/test";
import { chromiumArguments, findChromium } from "../setup/chromium.mjs";

/** A browser with a profile on disk, which stays when the browser ends. */
export interface BrowserOnDisk {
  /** A new tab on the test page. */
  open(): Promise<Page>;
  /** Ends the browser; the next tab starts it anew. */
  end(): Promise<void>;
  /** Ends it and removes the profile. */
  remove(): Promise<void>;
}

/** Makes the profile; the browser starts with the first tab. */
export function browserOnDisk(url: string): BrowserOnDisk {
  const profile = mkdtempSync(join(tmpdir(), "orbax-webgpu-profile-"));
  const executablePath = findChromium() ?? "";
  let running: BrowserContext | undefined;
  const end = async () => {
    await running?.close();
    running = undefined;
  };
  return {
    async open() {
      running ??= await chromium.launchPersistentContext(profile, { executablePath, args: chromiumArguments(), headless: true });
      // A renderer that Chromium kept ready may have been killed with the others: the second tab gets a new one.
      const context = running;
      const page = await context.newPage().catch(() => context.newPage());
      await page.goto(url);
      await page.waitForFunction(() => "orbax" in window);
      return page;
    },
    end,
    async remove() {
      await end();
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
