import { test as base } from "playwright/test";
import { type PageServer, servePage } from "./servePage.js";

export { expect } from "playwright/test";

/**
 * Playwright's `test`, whose `page` stands on the test page: `window.orbax` is the built package, `window.internals` what the
 * page adds. An error that nobody caught on the page fails the test.
 */
export const test = base.extend<object, { pageServer: PageServer }>({
  pageServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
    async ({}, use) => {
      const server = await servePage();
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  page: async ({ page, pageServer }, use) => {
    const uncaught: Error[] = [];
    page.on("pageerror", (error) => uncaught.push(error));
    await page.goto(pageServer.url);
    await page.waitForFunction(() => "orbax" in window);
    await use(page);
    if (uncaught.length > 0) throw new AggregateError(uncaught, `the page threw: ${uncaught[0]?.message}`);
  },
});
