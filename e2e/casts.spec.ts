import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { castStep, refusedCasts } from "./synthetic/castStep.js";
import { stepFiles } from "./synthetic/stepFiles.js";

// The table of TensorStore's casts, on the way from a server to a real device.

let server: RunningServer;
const { arrays, expected } = castStep();
const refused = refusedCasts();

test.beforeAll(async () => {
  const files = [
    ...stepFiles(1, "model", arrays),
    ...stepFiles(
      2,
      "model",
      refused.map(({ array }) => array),
    ),
  ];
  server = await startServer({ root: new Map(files) });
});
test.afterAll(() => server.close());

test("every cast gives TensorStore's bits in the buffer", async ({ page }) => {
  const problems = await page.evaluate(
    async ({ url, expected }) => {
      const { OrbaxCheckpointStore, shapeDtypeStruct } = window.orbax;
      const { hexElements, testDevice } = window.internals;
      const device = await testDevice();
      const model = Object.fromEntries(expected.map(({ name, count, to }) => [name, shapeDtypeStruct([count], to)]));
      const store = new OrbaxCheckpointStore(url, { device, enableX64: true });
      const checkpoint = await store.restore(1, { templates: { model }, castDtypes: true });
      const problems: string[] = [];
      for (const { name, to, count, hex, undefinedElements } of expected) {
        const array = checkpoint.items.model[name];
        if (array === undefined || !("buffer" in array) || array.dtype !== to) throw new Error(`${name}: not on the device as ${to}`);
        const given = hexElements(await array.read());
        const wanted = hex.match(new RegExp(`.{${hex.length / count}}`, "g")) ?? [];
        for (const [element, bits] of wanted.entries()) {
          if (bits !== given[element] && !undefinedElements.includes(element))
            problems.push(`${name}, element ${element}: ${given[element]}`);
        }
      }
      checkpoint.destroy();
      return problems;
    },
    { url: server.url, expected },
  );
  expect(expected.length).toBeGreaterThan(500);
  expect(problems).toEqual([]);
});

test("what TensorStore does not cast is refused, all of it, before a chunk is asked for or a buffer made", async ({ page }) => {
  server.resetRequests();
  const found = await page.evaluate(
    async ({ url, wanted }) => {
      const { isCheckpointError, OrbaxCheckpointStore, shapeDtypeStruct } = window.orbax;
      const { countBuffers, testDevice } = window.internals;
      const device = await testDevice();
      const buffers = countBuffers(device);
      const model = Object.fromEntries(wanted.map(({ name, shape, to }) => [name, shapeDtypeStruct(shape, to)]));
      const error = await new OrbaxCheckpointStore(url, { device, enableX64: true })
        .restore(2, { templates: { model }, castDtypes: true })
        .catch((reason: unknown) => reason);
      const mismatches = isCheckpointError(error, "DtypeMismatch") ? error.mismatches : String(error);
      return { mismatches, made: buffers().made };
    },
    { url: server.url, wanted: refused.map(({ array: { name, shape }, to }) => ({ name, shape, to })) },
  );
  expect(found.mismatches).toEqual(
    expect.arrayContaining(refused.map(({ array: { name, dtype }, to }) => ({ item: "model", leaf: name, saved: dtype, restored: to }))),
  );
  expect(found.mismatches).toHaveLength(refused.length);
  expect(found.made).toBe(0);
  const dataBytes = server.requests.filter(({ path }) => path.includes("/d/")).reduce((sum, { bytes }) => sum + bytes, 0);
  const nodeBytes = 400 * refused.length;
  expect(dataBytes).toBeLessThan(nodeBytes);
});
