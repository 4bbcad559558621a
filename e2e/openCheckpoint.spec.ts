import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Page } from "playwright/test";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// One call for whatever is there, in a real browser: over HTTP from another origin, and from the origin's private file system.

const root = join(import.meta.dirname, "fixtures", "data", "plain-orbax", "checkpoints");
const files = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));

const running: RunningServer[] = [];

test.afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(index?: "none"): Promise<string> {
  const server = await startServer({ root, ...(index && { index }) });
  running.push(server);
  return server.url;
}

/** What a source is opened as, and what its arrays are on a GPU; or what the error says. */
const opened = (page: Page, source: string, options: { readonly step?: number } = {}) =>
  page.evaluate(
    async ({ source, options }) => {
      try {
        const device = await window.internals.testDevice();
        const checkpoint = await window.orbax.openCheckpoint(source, { ...options, device });
        const { kind, path, leaves } = checkpoint;
        const { a } = await checkpoint.restore({ template: { a: window.orbax.shapeDtypeStruct([8], "int32"), b: { c: null } } });
        const { data } = await a.read();
        checkpoint.destroy();
        return { kind, path, leaves: leaves.map((leaf) => leaf.path), a: [...data] };
      } catch (error) {
        return String(error);
      }
    },
    { source, options },
  );

const whole = { leaves: ["a", "b/c"], a: [0, 1, 2, 3, 4, 5, 6, 7] };

const places = [
  ["", {}, { kind: "root", path: "1/default" }],
  ["/1", {}, { kind: "step", path: "default" }],
  ["/1/default", {}, { kind: "item", path: "" }],
] as const;

test("root, step and item are opened over HTTP", async ({ page }) => {
  const url = await serve();
  for (const [path, options, facts] of places) expect(await opened(page, url + path, options)).toEqual({ ...facts, ...whole });
});

test("where the server lists nothing, too, and a root with its step", async ({ page }) => {
  const url = await serve("none");
  for (const [path, options, facts] of [...places.slice(1), ["", { step: 1 }, { kind: "root", path: "1/default" }] as const]) {
    expect(await opened(page, url + path, options)).toEqual({ ...facts, ...whole });
  }
});

test("from the private file system, and wrong levels are told", async ({ page }) => {
  const url = await serve();
  await page.evaluate(({ url, files }) => window.internals.copyFiles("runs/plain", url, files), { url, files });
  for (const [path, options, facts] of places) expect(await opened(page, `runs/plain${path}`, options)).toEqual({ ...facts, ...whole });
  expect(await opened(page, "runs")).toMatch(/opfs:\/runs is above the checkpoints: give one of the folders in it that hold some: "plain"/);
  expect(await opened(page, "runs/plain/1/default/ocdbt.process_0")).toMatch(
    /what one process wrote.*give opfs:\/runs\/plain\/1\/default$/,
  );
  expect(await opened(page, "runs/plain/1/default/_METADATA")).toMatch(/_METADATA is a file: give the folder/);
  expect(await opened(page, "runs/nothing")).toMatch(/CheckpointNotFoundError: no checkpoint under opfs:\/runs\/nothing/);
});
