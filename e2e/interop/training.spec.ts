import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright/test";
import { drawWithMouse } from "../demo/demoPage.js";
import { drawings } from "../demo/drawings.js";
import { expect, test } from "../demo/test.js";
import { lastLosses, openTraining, restOf, train } from "../demo/trainPage.js";
import { runPython } from "./runPython.js";

/** Files of the page's own file system, by path, in base64. */
function filesOf(page: Page, folder: string): Promise<[path: string, base64: string][]> {
  return page.evaluate(async (name) => {
    const files: [string, string][] = [];
    const visit = async (directory: FileSystemDirectoryHandle, prefix: string): Promise<void> => {
      for await (const [name, handle] of directory.entries()) {
        if (handle.kind === "directory") {
          await visit(handle as FileSystemDirectoryHandle, `${prefix}${name}/`);
          continue;
        }
        const bytes = new Uint8Array(await (await (handle as FileSystemFileHandle).getFile()).arrayBuffer());
        files.push([prefix + name, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))]);
      }
    };
    const root = await navigator.storage.getDirectory();
    await visit(await root.getDirectoryHandle(name), "");
    return files;
  }, folder);
}

async function copyOut(page: Page, into: string): Promise<void> {
  for (const [path, base64] of await filesOf(page, "digits-training")) {
    const file = join(into, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(base64, "base64"));
  }
}

test("a step of the training page is restored by Flax and optax, reads as many test images rightly, and trains on alike", async ({
  page,
  demo,
}) => {
  await openTraining(page, demo.url);
  for (const digit of [7, 3]) {
    await drawWithMouse(page, drawings[digit]?.strokes ?? []);
    await page.getByRole("button", { name: `It is a ${digit}` }).click();
  }
  await page.getByLabel("Learning rate").selectOption("0.001");
  await train(page, { steps: "50 steps", every: "50 steps" });
  const folder = await mkdtemp(join(tmpdir(), "orbax-webgpu-training-"));
  try {
    await copyOut(page, folder);
    const python = JSON.parse(await runPython("train_on.py", [folder, "1250", "50"]));
    expect(python.count).toBe(1250);
    expect(python.accuracy).toBe(python.metrics.accuracy);
    const { losses = [] } = await restOf(page);
    expect(python.metrics.loss).toBe(losses.at(-1));

    const here = lastLosses(await train(page, { steps: "50 steps", every: "only when asked" }), 50);
    const apart = here.map((loss, index) => Math.abs(loss - python.losses[index]));
    expect(python.losses).toHaveLength(50);
    expect(Math.max(...apart)).toBeLessThan(1e-3);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
