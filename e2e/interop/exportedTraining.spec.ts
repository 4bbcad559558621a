import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "../demo/test.js";
import { openTraining, restOf, train } from "../demo/trainPage.js";
import { runCommand } from "../setup/commands.mjs";
import { runPython } from "./runPython.js";

// What the training page exports is unpacked by `unzip`, restored by substrax, and answers in Flax as many test images right as the page shows.

// Left out where its reason says so, and never in CI.
const noZips = process.env.ORBAX_NO_ZIP ?? "";
test.skip(noZips !== "" && process.env.CI !== "true", noZips);

const images = join(import.meta.dirname, "..", "fixtures", "data", "digits", "test-images.json");

test("steps go from the page through a ZIP to Flax, and back into the page", async ({ page, demo }) => {
  await openTraining(page, demo.url);
  const { saved } = await train(page, { steps: "50 steps", every: "25 steps" });
  expect(saved).toEqual([1250, 1225]);
  const rowOf = (step: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: new RegExp(`^${step}`) }) });
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-exported-"));
  try {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download all steps (ZIP)" }).click();
    const zip = join(folder, "steps.zip");
    await (await downloading).saveAs(zip);
    const { code, output } = await runCommand("unzip", ["-q", zip, "-d", join(folder, "steps")], { timeoutSeconds: 600 });
    expect(code, output).toBe(0);
    const correct: Record<string, number> = JSON.parse(await runPython("read_taken.py", [join(folder, "steps"), images]));
    expect(Object.keys(correct)).toEqual(["1225", "1250"]);
    for (const [step, count] of Object.entries(correct))
      await expect(rowOf(`1,${step.slice(1)}`)).toContainText(`${((count / 360) * 100).toFixed(1)}%`);

    const picker = page.locator("input[type=file]");
    await picker.setInputFiles(zip);
    await expect(page.getByRole("alert")).toContainText("Step 1225 is there already");
    await page.getByRole("button", { name: "Close" }).click();
    for (const step of [1225, 1250]) {
      await page.getByRole("button", { name: `Delete step ${step}`, exact: true }).click();
      await page.getByRole("button", { name: `Delete step ${step} for good` }).click();
      await expect(rowOf(`1,${String(step).slice(1)}`)).toHaveCount(0);
    }
    await picker.setInputFiles(zip);
    await expect(rowOf("1,225")).toBeVisible();
    expect(await restOf(page)).toMatchObject({ saved: [1250, 1225] });
    await page.getByRole("button", { name: "Restore step 1225", exact: true }).click();
    const lose = page.getByRole("button", { name: /^Restore step 1225, and lose/ });
    if (await lose.isVisible()) await lose.click();
    await restOf(page, 1225);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
