import { join } from "node:path";
import type { Page } from "playwright/test";
import { trainTwice } from "../demo/headlessTraining.mjs";
import { serveDemo } from "../demo/serve.mjs";
import { drawWithMouse, losableDevice, openDemo, reportOf } from "./demo/demoPage.js";
import { drawings } from "./demo/drawings.js";
import { shiftsOf, watchShifts, windowSizes } from "./demo/layoutShifts.js";
import { expect, test } from "./demo/test.js";
import { begin, lastLosses, openTraining, restOf, train } from "./demo/trainPage.js";
import { findChromium } from "./setup/chromium.mjs";

const whenAsked = "only when asked";
const alertOf = (page: Page) => page.getByRole("alert");
const rowOf = (page: Page, step: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: new RegExp(`^${step}`) }) });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function teach(page: Page, digit: number): Promise<void> {
  await drawWithMouse(page, drawings[digit]?.strokes ?? []);
  await button(page, `It is a ${digit}`).click();
  await expect(page.getByRole("img", { name: `Drawing of a ${digit}` })).toBeVisible();
}

test("a page that is killed goes on from its saved step with the losses that it would have had", async ({ demo }) => {
  const { text, agree } = await trainTwice({ url: `${demo.url}train.html`, executablePath: findChromium() ?? "" });
  expect(text).toContain("the losses agree: the same bits in all 50 steps");
  expect(agree).toBe(true);
});

test("drawings, the learning rate and the curves come back with a step, after a reload and when an older one is restored", async ({
  page,
  demo,
}) => {
  const start = await openTraining(page, demo.url);
  expect(start).toMatchObject({ step: 1200, losses: [], saved: [] });
  await teach(page, 7);
  await teach(page, 3);
  await page.getByLabel("Learning rate").selectOption("0.0005");
  const saved = await train(page, { steps: "50 steps", every: "25 steps" });
  expect(saved).toMatchObject({ step: 1250, start: 1200, saved: [1250, 1225] });
  const whole = await train(page, { steps: "50 steps", every: whenAsked });
  await expect(page.getByText("Step 1300 is not saved yet.")).toBeVisible();

  await page.reload();
  const again = await restOf(page);
  expect(again).toMatchObject({ step: 1250, start: 1200, losses: saved.losses });
  await expect(page.getByRole("img", { name: /^Drawing of a/ })).toHaveCount(2);
  await expect(page.getByLabel("Learning rate")).toHaveValue("0.0005");
  expect(lastLosses(await train(page, { steps: "50 steps", every: whenAsked }), 50)).toEqual(lastLosses(whole, 50));

  await button(page, "Restore step 1225").click();
  await button(page, "Keep step 1300, which is not saved").click();
  await button(page, "Restore step 1225").click();
  await button(page, "Restore step 1225, and lose step 1300").click();
  await restOf(page, 1225);
  await expect(page.getByText("Step 1225 is on the GPU, as it is saved. The next save deletes those after 1225.")).toBeVisible();
  const third = await train(page, { steps: "50 steps", every: "50 steps" });
  expect(lastLosses(third, 50)).toEqual(whole.losses?.slice(25, 75));
  expect(third.saved).toEqual([1250, 1225]);
  expect(third.step).toBe(1275);
});

test("steps are listed with their sizes, restored, and deleted once that is confirmed, by the keyboard", async ({ page, demo }) => {
  await openTraining(page, demo.url);
  await button(page, "Train").focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await expect(page.getByLabel("Save every")).toBeFocused();
  await page.keyboard.press("Home"); // 10 steps
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await expect(button(page, "Train")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button(page, "Pause")).toBeFocused();
  await restOf(page, 1300);

  await expect(page.getByText("latest", { exact: true })).toHaveCount(1);
  await expect(rowOf(page, "1,300")).toContainText("latest");
  await expect(page.getByText("best", { exact: true })).toHaveCount(1);
  await expect(rowOf(page, "1,290")).toContainText(/\d\d\d KB/);
  await expect(page.getByText(/^1\.\d MB in steps, .* used, .* free$/)).toBeVisible();
  expect((await restOf(page)).saved).toEqual([1300, 1290, 1280, 1270, 1260, 1250]);

  await button(page, "Delete step 1300").press("Enter");
  await expect(button(page, "Keep step 1300")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button(page, "Delete step 1300")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button(page, "Keep step 1300")).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(button(page, "Delete step 1300 for good")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(rowOf(page, "1,300")).toHaveCount(0);
  await expect(rowOf(page, "1,290")).toContainText("latest");
  await expect(page.getByText("Step 1300 is not saved yet.")).toBeVisible();
  await button(page, "Save step 1300 now").press("Enter");
  await expect(rowOf(page, "1,300")).toContainText("latest");
});

test("a browser without room says so at the steps, and saves once there is some", async ({ page, demo }) => {
  await openTraining(page, demo.url);
  await train(page, { steps: "50 steps", every: "25 steps" });
  const protocol = await page.context().newCDPSession(page);
  const origin = new URL(demo.url).origin;
  await protocol.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 600_000 });
  await begin(page, { steps: "50 steps", every: "25 steps" });
  expect(await restOf(page, 1275)).toMatchObject({ status: "error", saved: [1250, 1225] });
  await expect(alertOf(page)).toContainText("The step was not saved");
  await expect(alertOf(page)).toContainText("delete steps below, then save again");

  await protocol.send("Storage.overrideQuotaForOrigin", { origin });
  await button(page, "Save again").click();
  await expect(rowOf(page, "1,275")).toContainText("latest");
  await expect(alertOf(page)).toBeHidden();
  expect(await restOf(page)).toMatchObject({ status: "ready", saved: [1275, 1250, 1225] });
});

test("another tab watches the one that trains, and goes on when that one is closed", async ({ page, context, demo }) => {
  await openTraining(page, demo.url);
  const other = await context.newPage();
  await other.goto(`${demo.url}train.html`);
  await expect(alertOf(other)).toContainText("Another tab is training");
  await expect(button(other, "Train")).toHaveCount(0);
  await button(other, "Watch it").click();
  await expect(other.getByRole("status").first()).toHaveText("Watching the other tab, which is at step 1200.");

  const trained = await train(page, { steps: "50 steps", every: "50 steps" });
  await expect(other.getByRole("status").first()).toHaveText("Watching the other tab, which is at step 1250.");
  await expect(other.getByRole("img", { name: /^Loss of 50 steps after step 1200/ })).toBeVisible();
  await expect(rowOf(other, "1,250")).toContainText("latest");
  await expect(other.getByRole("button", { name: /Restore|Delete/ })).toHaveCount(0);

  await page.close();
  await expect(button(other, "Train")).toBeEnabled();
  expect(await restOf(other)).toMatchObject({ status: "ready", step: 1250, losses: trained.losses });
});

test("without files it trains in memory", async ({ page, demo }) => {
  await page.addInitScript(() => {
    StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException("not here", "SecurityError"));
  });
  await page.goto(`${demo.url}train.html`);
  await expect(alertOf(page)).toContainText(
    "This page has no place to save stepsStorageError opfs:/digits-training: the browser does not give",
  );
  await button(page, "Train in memory").click();
  await restOf(page, 1200);
  expect(await train(page, { steps: "50 steps", every: "50 steps" })).toMatchObject({ status: "ready", saved: [1250] });
  await expect(page.getByText(/They stand in memory/)).toBeVisible();
});

test("without WebGPU it says what to do", async ({ page, demo }) => {
  await page.addInitScript(() => Reflect.deleteProperty(Navigator.prototype, "gpu"));
  await page.goto(`${demo.url}train.html`);
  await expect(alertOf(page)).toContainText("This demo needs WebGPU");
  expect(await restOf(page)).toMatchObject({ status: "error", message: "This browser has no WebGPU." });
});

test.describe("what the page cannot do without", () => {
  test.use({ expectedErrors: /^Failed to load resource/ });

  test("is said where it fails, and can be tried again", async ({ page, demo }) => {
    const files = "**/training/images.json";
    await page.route(files, (route) => route.fulfill({ status: 503, body: "no" }));
    await page.goto(`${demo.url}train.html`);
    await expect(alertOf(page)).toContainText("The training could not be opened");
    await expect(alertOf(page)).toContainText("the server answered 503");
    await expect(page.getByRole("button", { name: /Restore/ })).toHaveCount(0);
    await page.unroute(files);
    await button(page, "Try again").press("Enter");
    await expect(alertOf(page)).toBeHidden();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("train");
    expect(await restOf(page)).toMatchObject({ status: "ready", step: 1200 });
  });
});

test("a graphics processor that goes away is told, and the training goes on from the latest saved step", async ({ page, demo }) => {
  const loseDevice = await losableDevice(page);
  await openTraining(page, demo.url);
  await begin(page, { steps: "until paused", every: "25 steps" });
  await expect(rowOf(page, "1,225")).toBeVisible();
  await loseDevice();
  await expect(alertOf(page)).toContainText("The graphics processor went away");
  await button(page, "Go on from the latest saved step").click();
  await expect(alertOf(page)).toBeHidden();
  const { status, step, saved } = await restOf(page);
  expect([status, step]).toEqual(["ready", saved?.[0]]);
});

test("the page fits a phone, in the light and in the dark", async ({ page, demo }) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await openTraining(page, demo.url);
  await train(page, { steps: "50 steps", every: "50 steps" });
  const wider = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(await wider()).toBeLessThanOrEqual(0);
  const lineOf = () =>
    page
      .locator(".plot canvas")
      .first()
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const light = await lineOf();
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe("rgb(15, 18, 32)");
  await expect.poll(lineOf).not.toBe(light);
  await button(page, "Delete step 1250").click();
  expect(await wider()).toBeLessThanOrEqual(0);
});

test.describe("without a network", () => {
  test.use({ serviceWorkers: "allow", expectedErrors: /^Failed to load resource|ERR_CONNECTION_REFUSED|ERR_FAILED/ });

  const worksOffline = "it comes with the page, which works offline now";

  test("the page begins with Python's step, and the other page opens, when this one was visited once", async ({ page, demo }) => {
    const server = await serveDemo({ root: join(import.meta.dirname, ".."), built: demo.built });
    const first = await openTraining(page, server.url);
    await expect(rowOf(page, "1,200")).toContainText(worksOffline);
    const trained = await train(page, { steps: "50 steps", every: "50 steps" });
    await server.close();

    await page.reload();
    expect(await restOf(page)).toMatchObject({ status: "ready", step: 1250 });
    await button(page, "Restore Python’s step").click();
    expect(await restOf(page, 1200)).toEqual({ ...first, saved: [1250] });
    expect(lastLosses(await train(page, { steps: "50 steps", every: whenAsked }), 50)).toEqual(trained.losses);

    await page.getByRole("navigation").getByRole("link", { name: "Restore" }).click();
    expect(await reportOf(page)).toMatchObject({ status: "done", predictions: { total: 360 } });
    await expect(page.getByText("No network: restored from here")).toBeVisible();
  });

  test("the page opens for the first time, with Python's step, when the other one was visited once", async ({ page, demo }) => {
    const server = await serveDemo({ root: join(import.meta.dirname, ".."), built: demo.built });
    await openDemo(page, server.url);
    await expect(page.getByText("Works offline now")).toBeVisible();
    await server.close();
    expect(await openTraining(page, server.url)).toMatchObject({ status: "ready", step: 1200, losses: [], saved: [] });
    expect(await train(page, { steps: "50 steps", every: "50 steps" })).toMatchObject({ status: "ready", saved: [1250] });
  });

  test("the page goes on from its latest step, where the other page was opened before; the two lead to each other", async ({
    page,
    demo,
  }) => {
    const server = await serveDemo({ root: join(import.meta.dirname, ".."), built: demo.built });
    await openTraining(page, server.url);
    await train(page, { steps: "50 steps", every: "50 steps" });
    await page.getByRole("navigation").getByRole("link", { name: "Restore" }).click();
    await expect(page.getByText("Works offline now")).toBeVisible();
    await server.close();
    await page.getByRole("navigation").getByRole("link", { name: "Train" }).press("Enter");
    expect(await restOf(page)).toMatchObject({ status: "ready", step: 1250 });
    expect(await train(page, { steps: "50 steps", every: "50 steps" })).toMatchObject({ status: "ready", saved: [1300, 1250] });
  });
});

test("the page stands still while it loads, and asks no other host for anything", async ({ page, demo }) => {
  const hosts = new Set<string>();
  // Workers of the page's own come from blob: addresses.
  page.on("request", (request) => request.url().startsWith("blob:") || hosts.add(new URL(request.url()).host));
  await watchShifts(page);
  for (const viewport of windowSizes) {
    await page.setViewportSize(viewport);
    await openTraining(page, demo.url);
    expect(await shiftsOf(page)).toBeLessThan(0.02);
  }
  expect([...hosts]).toEqual([new URL(demo.url).host]);
});
