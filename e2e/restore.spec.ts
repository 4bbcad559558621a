import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Expected } from "./fixtures/expected.js";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// Every fixture that real substrax wrote, over HTTP from another origin, onto real GPUBuffers, by the built package.

const data = join(import.meta.dirname, "fixtures", "data");
const read = (fixture: string): Expected => JSON.parse(readFileSync(join(data, fixture, "expected.json"), "utf8"));
const isStore = (names: readonly string[]) => names.includes("checkpoints") && names.includes("expected.json");
const fixtures = readdirSync(data).filter((name) => isStore(readdirSync(join(data, name))));

/** A compressor that is refused; that it is, the unit tests check. */
const refused = ["bz2"];

let server: RunningServer;

const store = (fixture: string) => `${server.url.replace(/\/$/, "")}/${fixture}/checkpoints`;

test.beforeAll(async () => {
  server = await startServer({ root: data });
});
test.afterAll(() => server.close());

for (const fixture of fixtures) {
  const steps = Object.entries(read(fixture).steps).filter(([, step]) => step.items !== undefined && !refused.includes(step.case ?? ""));
  if (steps.length === 0) continue;
  test(`${fixture} comes back byte for byte from GPUBuffers`, async ({ page }) => {
    const problems = await page.evaluate(
      async ({ url, steps }) => {
        const { countBuffers, problemsOfStep, testDevice } = window.internals;
        const device = await testDevice();
        const buffers = countBuffers(device);
        const problems: string[] = [];
        for (const [step, { items = {} }] of steps) problems.push(...(await problemsOfStep(url, Number(step), items, device)));
        return [...problems, ...(buffers().alive === 0 ? [] : [`${buffers().alive} buffers are left`])];
      },
      { url: store(fixture), steps },
    );
    expect(problems).toEqual([]);
  });

  test(`${fixture} comes back onto templates, also into buffers that are there`, async ({ page }) => {
    const problems = await page.evaluate(
      async ({ url, steps }) => {
        const { countBuffers, problemsOfTemplates, testDevice } = window.internals;
        const device = await testDevice();
        const buffers = countBuffers(device);
        const problems: string[] = [];
        for (const [step, { items = {} }] of steps) problems.push(...(await problemsOfTemplates(url, Number(step), items, device)));
        return [...problems, ...(buffers().alive === 0 ? [] : [`${buffers().alive} buffers are left`])];
      },
      { url: store(fixture), steps },
    );
    expect(problems).toEqual([]);
  });
}

test("64-bit arrays are refused without x64 before a buffer is made, and narrowed when asked", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { isCheckpointError, OrbaxCheckpointStore } = window.orbax;
    const { countBuffers, testDevice } = window.internals;
    const device = await testDevice();
    const buffers = countBuffers(device);
    const opened = await new OrbaxCheckpointStore(url, { device }).open(1);
    const wide = opened.leaves.filter(({ kind, dtype = "" }) => kind === "jax.Array" && /64$|128$/.test(dtype) && dtype !== "complex64");
    const error = await opened.restore().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const made = buffers().made;
    const narrowed = await opened.restore({ castDtypes: true });
    const dtypes = wide.map(({ path }) => {
      const [item = "", ...keys] = path.split("/");
      const leaf = narrowed.leaf(item, keys.join("/"));
      return leaf !== null && typeof leaf === "object" && "buffer" in leaf ? leaf.dtype : "not on the device";
    });
    return {
      wide: wide.map(({ dtype }) => dtype),
      dtypes,
      made,
      refused: isCheckpointError(error, "DtypeMismatch")
        ? { x64Disabled: error.x64Disabled, count: error.mismatches.length }
        : String(error),
    };
  }, store("x64"));
  expect(found.wide.length).toBeGreaterThan(3);
  expect(found.refused).toEqual({ x64Disabled: true, count: found.wide.length });
  expect(found.made).toBe(0);
  const narrow = { float64: "float32", int64: "int32", uint64: "uint32", complex128: "complex64" } as const;
  expect(found.dtypes).toEqual(found.wide.map((dtype) => narrow[dtype as keyof typeof narrow]));
});

test("templates choose devices, buffers and memory leaf by leaf; padding is zero", async ({ page }) => {
  const found = await page.evaluate(async (url) => {
    const { OrbaxCheckpointStore, shapeDtypeStruct, templateOf } = window.orbax;
    const { readBack, testDevice } = window.internals;
    const [first, second] = [await testDevice(), await testDevice()];
    const given = first.createBuffer({ size: 48, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
    first.queue.writeBuffer(given, 0, new Uint8Array(48).fill(255));
    const store = new OrbaxCheckpointStore(url, { device: first });
    const layer = (kernel: readonly number[], bias: number) => ({
      kernel: { value: shapeDtypeStruct(kernel, "float32", { device: second }) },
      bias: { value: shapeDtypeStruct([bias], "float32") },
    });
    const model = {
      hidden1: layer([64, 128], 128),
      hidden2: { kernel: { value: null }, bias: { value: new Float32Array(64) } },
      out: {
        kernel: { value: shapeDtypeStruct([64, 10], "float32", { usage: 0x8c | 0x20 }) },
        bias: { value: shapeDtypeStruct([10], "float32", { into: given }) },
      },
    };
    const { items, destroy } = await store.restore(1200, { templates: { model } });
    const again = await store.restore(1200, { templates: { model: templateOf(items.model) } });
    const { hidden1, hidden2, out } = items.model;
    const bias = await out.bias.value.read();
    const tail = new Uint8Array(await readBack(first, given, 48)).subarray(40);
    const result = {
      devices: [hidden1.kernel.value.device === second, hidden1.bias.value.device === first, out.bias.value.buffer === given],
      memory: [hidden2.kernel.value, hidden2.bias.value.data.length],
      usages: [hidden1.kernel.value.buffer.usage, out.kernel.value.buffer.usage],
      labels: [hidden1.kernel.value.buffer.label],
      sizes: [out.kernel.value.buffer.size, out.kernel.value.byteLength],
      tail: [...tail],
      same: [...(await again.items.model.out.bias.value.read()).data].every((value, index) => value === bias.data[index]),
    };
    destroy();
    again.destroy();
    const stillThere = (await readBack(first, given, 40)).byteLength;
    return { ...result, stillThere };
  }, store("digits"));
  expect(found).toEqual({
    devices: [true, true, true],
    memory: [null, 64],
    usages: [0x8c, 0x8c | 0x20],
    labels: ["model/hidden1/kernel/value"],
    sizes: [2560, 2560],
    tail: [255, 255, 255, 255, 255, 255, 255, 255],
    same: true,
    stillThere: 40,
  });
});

test("a worker restores too, onto its own device", async ({ page }) => {
  const first = await page.evaluate((url) => window.internals.restoreInWorker(url, 1200, "model", "out/bias/value"), store("digits"));
  const expected = read("digits").steps["1200"]?.items?.model?.find(({ path }) => path.join("/") === "out/bias/value");
  expect(first).toBe(expected?.hex);
});
