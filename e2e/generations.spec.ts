import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExpectedLeaf } from "./fixtures/expected.js";
import { type Generation, treesOf } from "./fixtures/generations.js";
import type { WantedCheckpoint } from "./page/problemsOfCheckpoints.js";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// What fifteen versions of Orbax, two of zarr-python and TensorStore wrote, over HTTP from another origin, onto real GPUBuffers, by the built package.

const data = join(import.meta.dirname, "fixtures", "data");
const read = (...path: string[]) => JSON.parse(readFileSync(join(data, ...path, "expected.json"), "utf8"));
const versionsOf = (writer: string) => readdirSync(join(data, writer));

let server: RunningServer;

const address = (...path: string[]) => [server.url.replace(/\/$/, ""), ...path.map(encodeURIComponent)].join("/");

test.beforeAll(async () => {
  server = await startServer({ root: data });
});
test.afterAll(() => server.close());

for (const version of versionsOf("generations")) {
  test(`what Orbax ${version} wrote comes back byte for byte from GPUBuffers`, async ({ page }) => {
    const { checkpoints }: Generation = read("generations", version);
    const wanted: WantedCheckpoint[] = Object.entries(checkpoints).flatMap(([name, checkpoint]) => {
      const url = address("generations", version, "checkpoints", name);
      return treesOf(checkpoint).map(({ options, leaves }) => ({ url, options, leaves }));
    });
    expect(wanted.length).toBeGreaterThan(5);
    const problems = await page.evaluate(
      async (wanted) => window.internals.problemsOfCheckpoints(wanted, await window.internals.testDevice()),
      wanted,
    );
    expect(problems).toEqual([]);
  });
}

for (const [writer, version] of ["zarr-python", "tensorstore"].flatMap((writer) =>
  versionsOf(writer).map((each) => [writer, each] as const),
)) {
  test(`what ${writer} ${version} wrote comes back byte for byte from GPUBuffers`, async ({ page }) => {
    const arrays: Readonly<Record<string, ExpectedLeaf>> = read(writer, version).arrays;
    const wanted: WantedCheckpoint[] = Object.entries(arrays).map(([name, leaf]) => ({
      url: address(writer, version, "arrays", name),
      options: {},
      leaves: [leaf],
    }));
    const problems = await page.evaluate(
      async (wanted) => window.internals.problemsOfCheckpoints(wanted, await window.internals.testDevice()),
      wanted,
    );
    expect(problems).toEqual([]);
  });
}
