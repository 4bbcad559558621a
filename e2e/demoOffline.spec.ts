import { join } from "node:path";
import type { Page } from "playwright/test";
import { serveDemo } from "../demo/serve.mjs";
import { drawWithMouse, openDemo, reportOf, verdictOf } from "./demo/demoPage.js";
import { drawings } from "./demo/drawings.js";
import { expect, test } from "./demo/test.js";

// The page keeps what it restored: a second load needs no network, not even for the page itself.

const root = join(import.meta.dirname, "..");

test.use({ serviceWorkers: "allow", expectedErrors: /^Failed to load resource|ERR_CONNECTION_REFUSED|ERR_FAILED/ });

const kept = (page: Page) => page.locator(".facts > div", { hasText: "On this device" });
const traffic = (page: Page) => page.locator(".facts > div", { hasText: "Over HTTP" });

test("a second load works without a network, and says what is missing", async ({ page, demo }) => {
  const server = await serveDemo({ root, built: demo.built });
  const first = await openDemo(page, server.url);
  await expect(kept(page)).toContainText("Works offline now");
  await expect(kept(page)).toContainText(/[1-9]\d{2},\d{3} bytes/);
  const { bytes } = server.traffic();
  await server.close();

  await page.reload();
  const again = await reportOf(page);
  expect(again).toEqual(first);
  await expect(kept(page)).toContainText("No network: restored from here");
  await expect(traffic(page)).toContainText("0 bytes, index included");
  await drawWithMouse(page, drawings[3]?.strokes ?? []);
  await expect(verdictOf(page)).toHaveText("3");

  await page.getByRole("radio", { name: "400" }).check();
  const alert = page.getByRole("alert");
  await expect(alert).toContainText(/StorageError.*400\/\S+: the file is not in the mirror.*once connected, read it/);
  await page.getByRole("radio", { name: "1200" }).check();
  await expect(alert).toBeHidden();
  expect(await reportOf(page)).toEqual(first);
  expect(bytes).toBeGreaterThan(200_000);
});

test("a second load with the server asks for no bytes of the checkpoint again, and what is kept can be removed", async ({ page, demo }) => {
  const first = await openDemo(page, demo.url);
  await expect(kept(page)).toContainText("Works offline now");
  const before = demo.traffic();
  await page.reload();
  expect(await reportOf(page)).toEqual(first);
  const listing = 3000; // the page that lists the steps
  expect(demo.traffic().bytes - before.bytes).toBeLessThan(listing);

  await kept(page).getByRole("button", { name: "Remove" }).click();
  await expect(kept(page)).toHaveText(/^On this device– bytes\s*$/);
  expect(
    await page.evaluate(async () => (await (await navigator.storage.getDirectory()).getDirectoryHandle("mirror")).keys().next()),
  ).toEqual({
    done: true,
    value: undefined,
  });
  await page.reload();
  expect(await reportOf(page)).toEqual(first);
  await expect(kept(page)).toContainText("Works offline now");
});

test("without room for files of its own the page works all the same, and says that nothing is kept", async ({ page, demo }) => {
  await page.addInitScript(() => {
    StorageManager.prototype.getDirectory = async () => {
      throw new DOMException("not here", "SecurityError");
    };
  });
  await openDemo(page, demo.url);
  await expect(kept(page)).toContainText(/Not kept: .*private windows/);
});
