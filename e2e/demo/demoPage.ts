import type { Locator, Page } from "playwright/test";
import type { DemoReport } from "../../demo/report.mjs";
import type { Point } from "./drawings.js";

/** The pad that one draws on. */
export const padOf = (page: Page): Locator => page.getByRole("application", { name: "Drawing pad" });

/** The digit that the page shows as its answer. */
export const verdictOf = (page: Page): Locator => page.locator(".verdict .digit");

/** Waits until the page has ended its work, well or not. */
export async function reportOf(page: Page): Promise<DemoReport> {
  const handle = await page.waitForFunction(() => window.orbaxDemoReport, undefined, { timeout: 0 });
  return (await handle.jsonValue()) as DemoReport;
}

/** Opens the demo and waits until it is ready. */
export async function openDemo(page: Page, url: string): Promise<DemoReport> {
  await page.goto(url);
  const report = await reportOf(page);
  if (report.status !== "done") throw new Error(report.message);
  return report;
}

/** Lets the page's next device be lost: the function that comes back loses it. */
export async function losableDevice(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(() => {
    const { requestDevice } = GPUAdapter.prototype;
    GPUAdapter.prototype.requestDevice = async function (...given) {
      const device = await requestDevice.apply(this, given);
      Object.assign(window, { loseDevice: () => device.destroy() });
      return device;
    };
  });
  return () => page.evaluate(() => Reflect.get(window, "loseDevice")());
}

/** Draws with the mouse. */
export async function drawWithMouse(page: Page, strokes: readonly (readonly Point[])[]): Promise<void> {
  await padOf(page).scrollIntoViewIfNeeded();
  const at = await placer(page);
  for (const [first, ...rest] of strokes) {
    if (first === undefined) continue;
    await page.mouse.move(...at(first));
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(...at(point), { steps: rest.length < 4 ? 6 : 1 });
    await page.mouse.up();
  }
}

/** Draws with a finger; Playwright has taps only, so the touches go through Chromium's own protocol. */
export async function drawWithFinger(page: Page, strokes: readonly (readonly Point[])[]): Promise<void> {
  await padOf(page).scrollIntoViewIfNeeded();
  const at = await placer(page);
  const protocol = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: readonly Point[]) =>
    protocol.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(at).map(([x, y]) => ({ x, y })) });
  for (const [first, ...rest] of strokes) {
    if (first === undefined) continue;
    await touch("touchStart", [first]);
    for (const point of rest) await touch("touchMove", [point]);
    await page.waitForTimeout(100); // lifted at full speed it would be a fling, which swallows the tap that follows
    await touch("touchEnd", []);
  }
}

/** Turns points of the pad into points of the window. */
async function placer(page: Page): Promise<(point: Point) => [number, number]> {
  const box = await padOf(page).boundingBox();
  if (box === null) throw new Error("the pad is not shown");
  return ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
}
