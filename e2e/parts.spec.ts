import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// Parts of checkpoints, onto a real GPU: selected leaves, templates of a part, regions of arrays.

const data = join(import.meta.dirname, "fixtures", "data");
const store = join(data, "sharded", "checkpoints");
const files = readdirSync(store, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(store, join(entry.parentPath, entry.name)).replaceAll(sep, "/"));

let server: RunningServer;

test.beforeAll(async () => {
  server = await startServer({ root: data });
});
test.afterAll(() => server.close());

for (const place of ["HTTP", "OPFS"]) {
  test(`selected leaves and regions come back from ${place} onto the GPU, and nothing else is made`, async ({ page }) => {
    const found = await page.evaluate(
      async ({ url, files, place }) => {
        const { openCheckpoint, shapeDtypeStruct } = window.orbax;
        const { copyFiles, countBuffers, hostBytes, testDevice } = window.internals;
        const device = await testDevice();
        if (place === "OPFS") await copyFiles("parts", url, files);
        const checkpoint = await openCheckpoint(place === "OPFS" ? "parts" : url, { item: "model", device });
        const buffers = countBuffers(device);
        const selected = await checkpoint.restore({ select: ["columns*", "!*_large_*"] });
        const names = selected !== null && typeof selected === "object" ? Object.keys(selected).sort() : [];
        const labels = checkpoint.leaves.map(({ path }) => path).filter((path) => path.startsWith("columns") && !path.includes("_large_"));
        const made = buffers().made;
        const template = { columns: shapeDtypeStruct([16, 64], "float32"), elsewhere: shapeDtypeStruct([1], "int8") };
        const partly = await checkpoint.restore({ missing: "skip", template });
        const differences: string[] = [];
        for (const { path, shape = [] } of checkpoint.leaves) {
          if (shape.length !== 2) continue;
          const whole = hostBytes(await (await checkpoint.read(path)).read());
          const [rows = 0, columns = 0] = shape;
          const region = [
            [1, rows - 1],
            [columns >> 2, columns - 1],
          ] as const;
          const part = hostBytes(await (await checkpoint.read(path, { region })).read());
          const itemsize = whole.length / (rows * columns);
          const width = region[1][1] - region[1][0];
          const same = part.every((byte, index) => {
            const element = Math.floor(index / itemsize);
            const row = region[0][0] + Math.floor(element / width);
            const column = region[1][0] + (element % width);
            return byte === whole[(row * columns + column) * itemsize + (index % itemsize)];
          });
          if (!same || part.length !== (rows - 2) * width * itemsize) differences.push(path);
        }
        checkpoint.destroy();
        return { names, labels: labels.sort(), made, partly: Object.keys(partly), differences, alive: buffers().alive };
      },
      { url: `${server.url}/sharded/checkpoints`, files, place },
    );
    expect(found.labels.length).toBeGreaterThan(3);
    expect(found).toEqual({ ...found, names: found.labels, made: found.labels.length, partly: ["columns"], differences: [], alive: 0 });
  });
}
