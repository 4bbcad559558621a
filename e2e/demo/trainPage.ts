import type { Page } from "playwright/test";
import type { TrainReport } from "../../demo/trainReport.mjs";

/** Waits until the page rests: ready, or with an error; at a step, where one is given. */
export async function restOf(page: Page, step?: number): Promise<TrainReport> {
  const handle = await page.waitForFunction(
    (step) => {
      const report = window.orbaxTrainReport;
      return report !== undefined && report.status !== "busy" && (step === undefined || report.step === step) ? report : undefined;
    },
    step,
    { timeout: 0 },
  );
  return (await handle.jsonValue()) as TrainReport;
}

/** Opens the training page and waits until it can train. */
export async function openTraining(page: Page, url: string): Promise<TrainReport> {
  await page.goto(`${url}train.html`);
  const report = await restOf(page);
  if (report.status !== "ready") throw new Error(report.message);
  return report;
}

/** How to train. */
export interface Plan {
  readonly steps: string;
  readonly every: string;
}

/** Trains by the page's controls, and waits for the end. */
export async function train(page: Page, { steps, every }: Plan): Promise<TrainReport> {
  const { step = 0 } = await restOf(page);
  await begin(page, { steps, every });
  return restOf(page, step + Number.parseInt(steps, 10));
}

/** Begins to train. */
export async function begin(page: Page, { steps, every }: Plan): Promise<void> {
  await page.getByLabel("Train for").selectOption(steps);
  await page.getByLabel("Save every").selectOption(every);
  await page.getByRole("button", { name: "Train", exact: true }).click();
}

/** The losses of the last steps. */
export const lastLosses = ({ losses = [] }: TrainReport, count: number): readonly number[] => losses.slice(-count);
