// @ts-check
import { chromium } from "playwright";
import { chromiumArguments } from "../e2e/setup/chromium.mjs";
import { compareCurves } from "./trainReport.mjs";

/** Steps of each half: those that are saved, and those that are trained twice. */
const half = 50;

/**
 * Trains 50 steps on the training page, saves, trains 50 more, kills the page, and trains those 50 again in a new one, from the saved step.
 * @param {{ url: string, executablePath: string }} options
 * @returns {Promise<{ text: string, agree: boolean }>} Both curves, and whether they agree in every bit.
 * @throws {Error} with the page's own message where it failed, or said nothing in time.
 */
export async function trainTwice({ url, executablePath }) {
  const browser = await chromium.launch({ executablePath, args: chromiumArguments() });
  try {
    const context = await browser.newContext();
    const first = await openTraining(context, url);
    await train(first, { every: `${half} steps` });
    const whole = await train(first, { every: "only when asked" });
    await kill(first);

    const second = await openTraining(context, url);
    const resumed = await reportOf(second);
    if (resumed.step !== whole.step - half) throw new Error(`the page went on from step ${resumed.step}, not from ${whole.step - half}`);
    const again = await train(second, { every: "only when asked" });
    return compareCurves({ start: resumed.step, uninterrupted: whole.losses.slice(-half), resumed: again.losses.slice(-half) });
  } finally {
    await browser.close();
  }
}

/**
 * @param {import("playwright").BrowserContext} context
 * @param {string} url
 */
async function openTraining(context, url) {
  const page = await context.newPage();
  await page.goto(url);
  await reportOf(page);
  return page;
}

/**
 * Trains by the page's own controls, and waits for the end.
 * @param {import("playwright").Page} page
 * @param {{ every: string }} plan
 */
async function train(page, { every }) {
  const { step } = await reportOf(page);
  await page.getByLabel("Train for").selectOption(`${half} steps`);
  await page.getByLabel("Save every").selectOption(every);
  await page.getByRole("button", { name: "Train", exact: true }).click();
  return reportOf(page, step + half);
}

/**
 * Waits until the page rests at a step, or at any.
 * @param {import("playwright").Page} page
 * @param {number} [step]
 */
async function reportOf(page, step) {
  const handle = await page.waitForFunction(
    (step) => {
      const report = window.orbaxTrainReport;
      const rests = report?.status === "ready" && (step === undefined || report.step === step);
      return report?.status === "error" || rests ? report : undefined;
    },
    step,
    { timeout: 600_000 },
  );
  const { status, message, step: at = 0, losses = [] } = (await handle.jsonValue()) ?? {};
  if (status === "error") throw new Error(message);
  return { step: at, losses };
}

/**
 * Ends the page's process, as a crash does.
 * @param {import("playwright").Page} page
 */
async function kill(page) {
  const crashed = page.waitForEvent("crash");
  const protocol = await page.context().newCDPSession(page);
  protocol.send("Page.crash").catch(() => undefined); // nobody is left to answer
  await crashed;
  await page.close();
}
