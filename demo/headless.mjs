// @ts-check
import { chromium } from "playwright";
import { chromiumArguments } from "../e2e/setup/chromium.mjs";

/**
 * Opens the demo in a Chromium without a window and waits for the report that it leaves.
 * @param {{ url: string, executablePath: string, timeoutSeconds?: number }} options
 * @returns {Promise<import("./report.mjs").DemoReport>}
 * @throws {Error} with the page's own message where the page failed, or said nothing in time.
 */
export async function readReport({ url, executablePath, timeoutSeconds = 600 }) {
  const browser = await chromium.launch({ executablePath, args: chromiumArguments() });
  try {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    const failed = new Promise((_, reject) => page.on("pageerror", (error) => reject(new Error(`the page threw: ${error.message}`))));
    const told = page
      .goto(url)
      .then(() => page.waitForFunction(() => Reflect.get(window, "orbaxDemoReport"), undefined, { timeout: timeoutSeconds * 1000 }))
      .then((handle) => handle.jsonValue());
    const report = await Promise.race([told, failed]).catch((error) => {
      const heard = complaints.length > 0 ? `\nThe page's console said:\n  ${complaints.join("\n  ")}` : "";
      throw new Error(`${explained(error, timeoutSeconds)}${heard}`);
    });
    if (report.status !== "done") throw new Error(report.message ?? "the page reported an error without a message");
    return report;
  } finally {
    await browser.close();
  }
}

/** @param {Error} error @param {number} timeoutSeconds */
const explained = (error, timeoutSeconds) =>
  error.name === "TimeoutError" ? `the page did not finish within ${timeoutSeconds} s` : error.message;
