import type { Page } from "playwright/test";

/** A desk's window and a phone's, in CSS pixels. */
export const windowSizes = [
  { width: 1280, height: 900 },
  { width: 360, height: 640 },
] as const;

/** Lets pages that are opened from now on add up by how much they move while they load. */
export async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => Reflect.get(entry, "value")))).observe({
      type: "layout-shift",
      buffered: true,
    });
  });
}

/** The sum so far: the share of the window that moved, times how far. */
export const shiftsOf = (page: Page): Promise<number> =>
  page.evaluate(() => (Reflect.get(window, "shifts") as number[]).reduce((sum, shift) => sum + shift, 0));
