import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serveDemo } from "../demo/serve.mjs";
import { drawWithFinger, drawWithMouse, losableDevice, openDemo, padOf, reportOf, verdictOf } from "./demo/demoPage.js";
import { drawings } from "./demo/drawings.js";
import { expectedLeaves } from "./demo/expectedLeaves.js";
import { shiftsOf, watchShifts, windowSizes } from "./demo/layoutShifts.js";
import { expect, test } from "./demo/test.js";

const digits = join(import.meta.dirname, "fixtures", "data", "digits");
const fixture = (name: string) => JSON.parse(readFileSync(join(digits, name), "utf8"));
const failedRequest = /^Failed to load resource/;

test.describe("a digit", () => {
  test("drawn with the mouse is read, each of the ten", async ({ page, demo }) => {
    await openDemo(page, demo.url);
    const bars = page.getByRole("list", { name: "Probability of each digit" }).getByRole("listitem");
    await expect(bars).toHaveCount(10);
    for (const { digit, strokes } of drawings) {
      await drawWithMouse(page, strokes);
      await expect(verdictOf(page)).toHaveText(String(digit));
      await expect(bars.nth(digit)).toHaveClass("best");
      await page.getByRole("button", { name: "Clear" }).click();
      await expect(verdictOf(page)).toHaveText("–");
    }
  });

  test("that was read is said to a screen reader once it stands", async ({ page, demo }) => {
    await openDemo(page, demo.url);
    await expect(page.getByRole("status")).toHaveText("Step 1200 is restored. Draw a digit.");
    await drawWithMouse(page, drawings[7]?.strokes ?? []);
    await expect(page.getByRole("status")).toHaveText(/^The network reads a 7, .*% sure$/);
  });

  test("drawn with the keyboard alone is read, taken back and cleared", async ({ page, demo }) => {
    await openDemo(page, demo.url);
    const press = async (key: string, times: number) => {
      for (let time = 0; time < times; time++) await page.keyboard.press(key);
    };
    await padOf(page).focus();
    await press("ArrowUp", 5);
    await press("Space", 1);
    await press("ArrowDown", 10);
    await press("Space", 1);
    await expect(verdictOf(page)).toHaveText("1");

    await press("Backspace", 1);
    await expect(verdictOf(page)).toHaveText("–");

    await press("ArrowUp", 10);
    await press("ArrowLeft", 4);
    await press("Space", 1);
    await press("ArrowRight", 7);
    await page.keyboard.down("ArrowLeft"); // two arrows held together go askew
    await press("ArrowDown", 4);
    await page.keyboard.up("ArrowLeft");
    await press("ArrowDown", 6);
    await press("Space", 1);
    await expect(verdictOf(page)).toHaveText("7");

    await press("Delete", 1);
    await expect(verdictOf(page)).toHaveText("–");
  });

  test("drawn on a phone with a finger is read, and does not scroll the page", async ({ browser, demo }) => {
    const context = await browser.newContext({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await openDemo(page, demo.url);
    await padOf(page).scrollIntoViewIfNeeded();
    const scrolled = await page.evaluate(() => window.scrollY);
    for (const { digit, strokes } of drawings) {
      await drawWithFinger(page, strokes);
      await expect(verdictOf(page)).toHaveText(String(digit));
      await page.getByRole("button", { name: "Clear" }).tap();
      await expect(verdictOf(page)).toHaveText("–");
      await page.evaluate((top) => window.scrollTo({ top, behavior: "instant" }), scrolled);
    }
    await drawWithFinger(page, drawings[0]?.strokes ?? []);
    expect(await page.evaluate(() => window.scrollY)).toBe(scrolled);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await context.close();
  });

  test("of the test images is read without drawing, and a stroke replaces it", async ({ page, demo }) => {
    await openDemo(page, demo.url);
    for (const digit of [3, 9]) {
      await page.getByRole("button", { name: `Test image of a ${digit}` }).click();
      await expect(verdictOf(page)).toHaveText(String(digit));
    }
    await drawWithMouse(page, drawings[1]?.strokes ?? []);
    await expect(verdictOf(page)).toHaveText("1");
    await expect(page.getByRole("button", { name: "Test image of a 9" })).toHaveAttribute("aria-pressed", "false");
  });
});

test("each step gets as many test images right as Flax in Python", async ({ page, demo }) => {
  const { steps, count } = fixture("test-images.json");
  await openDemo(page, demo.url);
  for (const step of ["1200", "400", "800"]) {
    await page.getByRole("radio", { name: step }).check();
    await expect(page.getByRole("table")).toContainText(`leaves of step ${step}`);
    const { predictions } = await reportOf(page);
    expect(predictions).toMatchObject({ correct: steps[step].correct, total: count });
    const fact = page.locator(".facts > div", { hasText: "Test images" });
    await expect(fact).toContainText(`${steps[step].correct} of ${count} correct`);
    await expect(fact).toContainText(`Flax: ${steps[step].correct} of ${count}, each answer the same`);
  }
});

test("every leaf is shown and reported as it was saved, and what it took to restore them", async ({ page, demo }) => {
  const server = await serveDemo({ root: join(import.meta.dirname, ".."), built: demo.built });
  const { leaves = [] } = await openDemo(page, server.url);
  expect(leaves).toEqual(expectedLeaves(fixture("expected.json").steps["1200"].items));
  for (const { path } of leaves) await expect(page.getByRole("rowheader", { name: path, exact: true })).toBeVisible();

  const fact = page.locator(".facts > div", { hasText: "Over HTTP" });
  const shown = Number(/(\d+) requests/.exec((await fact.textContent()) ?? "")?.[1]);
  // Once it has restored, the page asks for what it keeps for a start without a network.
  const { requests, bytes } = server.traffic(shown);
  await expect(fact).toContainText(`${new Intl.NumberFormat("en-US").format(bytes)} bytes, index included`);
  expect(bytes).toBeGreaterThan(200_000);
  expect(requests).toBe(shown);
  expect(requests).toBeLessThanOrEqual(24);
  await server.close();
});

test("while bytes arrive, a bar shows how many", async ({ page, demo }) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/optimizer/ocdbt.process_0/d/*", (route) => released.then(() => route.continue()));
  await page.goto(demo.url);
  const bar = page.getByRole("progressbar");
  await expect(bar).toHaveAccessibleName("Restoring onto the GPU…");
  await expect(page.locator(".bytes")).toHaveText(/^[1-9][\d,]* of 206,765 bytes$/);
  const position = await bar.evaluate((element: HTMLProgressElement) => element.position);
  expect(position).toBeGreaterThan(0);
  expect(position).toBeLessThan(1);
  release();
  await reportOf(page);
  await expect(bar).toHaveAccessibleName(/^Restored in [\d,]+ ms$/);
  await expect(page.locator(".bytes")).toHaveText("206,765 of 206,765 bytes");
  expect(await bar.evaluate((element: HTMLProgressElement) => element.position)).toBe(1);
});

test.describe("without WebGPU the page says what to do, and still shows what the checkpoint holds:", () => {
  const cases = [
    {
      name: "in a browser that lacks it",
      prepare: () => Reflect.deleteProperty(Navigator.prototype, "gpu"),
      says: /no WebGPU\..*Chrome or Edge 121 or newer.*Safari 26.*Firefox 141/,
    },
    {
      name: "on a page without https",
      prepare: () => {
        Reflect.deleteProperty(Navigator.prototype, "gpu");
        Object.defineProperty(window, "isSecureContext", { value: false });
      },
      says: /only over https and on localhost\..*http:\/\/localhost/,
    },
    {
      name: "on a machine without a graphics processor",
      prepare: () => {
        GPU.prototype.requestAdapter = async () => null;
      },
      says: /no graphics processor.*graphics acceleration.*chrome:\/\/gpu/,
    },
  ];
  for (const { name, prepare, says } of cases) {
    test(name, async ({ page, demo }) => {
      await page.addInitScript(prepare);
      await page.goto(demo.url);
      expect(await reportOf(page)).toMatchObject({ status: "error", message: expect.stringMatching(/WebGPU/) });
      await expect(page.getByRole("alert")).toHaveText(says);
      await expect(page.getByRole("alert").getByRole("button", { name: "Check again" })).toBeVisible();
      await expect(page.getByRole("rowheader", { name: "model/hidden1/kernel/value" })).toBeVisible();
    });
  }
});

test.describe("a failure is told where it happens, and can be tried again:", () => {
  test.use({ expectedErrors: failedRequest });

  const failures = [
    {
      name: "a file that is missing",
      files: "**/1200/model/_METADATA",
      status: 404,
      kind: "CorruptCheckpointError",
      says: "1200/model/_METADATA",
    },
    { name: "a server that is down", files: "**/1200/optimizer/**", status: 500, kind: "StorageError", says: "500" },
    { name: "a server that forbids the data", files: "**/1200/model/**/d/*", status: 403, kind: "StorageError", says: "403" },
  ];
  for (const { name, files, status, kind, says } of failures) {
    test(name, async ({ page, demo }) => {
      await page.route(files, (route) => route.fulfill({ status, body: "no" }));
      await page.goto(demo.url);
      const report = await reportOf(page);
      expect(report).toMatchObject({ status: "error", message: expect.stringContaining(says) });
      const alert = page.getByRole("alert");
      await expect(alert).toContainText(`The checkpoint could not be restored${kind} ${report.message}`);

      await page.unroute(files);
      await alert.getByRole("button", { name: "Try again" }).press("Enter");
      await expect(alert).toBeHidden();
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("demo");
      expect(await reportOf(page)).toMatchObject({ status: "done" });
    });
  }

  test("test images that are missing", async ({ page, demo }) => {
    const files = "**/test-images.json";
    await page.route(files, (route) => route.fulfill({ status: 404, body: "no" }));
    await page.goto(demo.url);
    expect(await reportOf(page)).toMatchObject({ status: "error", message: expect.stringContaining("answered 404") });
    await drawWithMouse(page, drawings[1]?.strokes ?? []);
    await expect(verdictOf(page)).toHaveText("1");

    await page.unroute(files);
    const fact = page.locator(".facts > div", { hasText: "Test images" });
    await fact.getByRole("button", { name: "Try again" }).click();
    await expect(fact).toContainText("354 of 360 correct");
    await expect(verdictOf(page)).toHaveText("1");
  });

  test("a graphics processor that goes away", async ({ page, demo }) => {
    const loseDevice = await losableDevice(page);
    await openDemo(page, demo.url);
    await drawWithMouse(page, drawings[0]?.strokes ?? []);
    await expect(verdictOf(page)).toHaveText("0");
    await loseDevice();
    await expect(page.getByRole("alert")).toContainText("The graphics processor went away");

    await page.getByRole("button", { name: "Restore again" }).click();
    await expect(page.getByRole("alert")).toBeHidden();
    expect(await reportOf(page)).toMatchObject({ status: "done" });
    await expect(verdictOf(page)).toHaveText("0");
  });
});

test("Tab leads through the page in the order in which it is read", async ({ page, demo }) => {
  await openDemo(page, demo.url);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the demo" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("#demo")).toBeFocused();

  await drawWithMouse(page, drawings[1]?.strokes ?? []);
  await page.getByRole("heading", { level: 1 }).click();
  const order: string[] = [];
  for (let stop = 0; stop < 16; stop++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null;
      const outline =
        element && getComputedStyle(element.matches("input") ? (element.nextElementSibling ?? element) : element).outlineStyle;
      const label = element?.getAttribute("aria-label") ?? element?.closest("label")?.textContent ?? element?.textContent;
      return `${label}${outline === "solid" ? "" : " (no focus to see)"}`;
    });
    order.push(name);
  }
  const tests = Array.from({ length: 10 }, (_, digit) => `Test image of a ${digit}`);
  expect(order).toEqual(["1200", "Drawing pad", "Undo stroke", "Clear", ...tests, "Remove", "Ten lines of code"]);
});

test("the page follows the system's wishes for darkness and stillness", async ({ page, demo }) => {
  await openDemo(page, demo.url);
  const look = () =>
    page.evaluate(() => {
      const [body, fill] = [getComputedStyle(document.body), getComputedStyle(document.querySelector(".fill") ?? document.body)];
      return { ground: body.backgroundColor, ink: body.color, moves: fill.transitionDuration !== "0s" };
    });
  expect(await look()).toEqual({ ground: "rgb(244, 245, 250)", ink: "rgb(21, 26, 48)", moves: true });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  expect(await look()).toEqual({ ground: "rgb(15, 18, 32)", ink: "rgb(236, 238, 248)", moves: false });
});

test("the page stands still while it loads, and asks no other host for anything", async ({ page, demo }) => {
  const hosts = new Set<string>();
  // Workers of the page's own come from blob: addresses.
  page.on("request", (request) => request.url().startsWith("blob:") || hosts.add(new URL(request.url()).host));
  await watchShifts(page);
  for (const viewport of windowSizes) {
    await page.setViewportSize(viewport);
    await openDemo(page, demo.url);
    expect(await shiftsOf(page)).toBeLessThan(0.02);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
  }
  expect([...hosts]).toEqual([new URL(demo.url).host]);
});
