import { browserOnDisk } from "./page/onDisk.js";
import { expect, test } from "./page/test.js";

test("a fault at any change of a save, an overwrite, a delete and a retention pass in OPFS leaves every step whole", async ({
  pageServer,
}) => {
  const browser = browserOnDisk(pageServer.url);
  try {
    const page = await browser.open();
    const reports = await page.evaluate(() => window.internals.everyFault("runs/faults"));
    expect(reports.map(({ act, kind }) => `${act} ${kind}`)).toHaveLength(8);
    for (const { act, kind, changes, undone, done, problems } of reports) {
      const place = `${act} ${kind}`;
      expect(problems, place).toEqual([]);
      expect(changes, place).toBeGreaterThan(act === "a delete" ? 3 : 20);
      // Both sides of the commit were met.
      expect(undone, place).toBeGreaterThan(0);
      expect(done, place).toBeGreaterThan(1);
    }
  } finally {
    await browser.remove();
  }
});
