import { expect, test } from "./page/test.js";

// What src/gpu does on real WebGPU. Each test runs in the page, where `internals` is src/gpu and what e2e/page adds to it.

test("random chunkings of random shapes of all widths come back byte for byte, interleaved", async ({ page }) => {
  const problems = await page.evaluate(async () => {
    const { randomArray, testDevice, uploadArrays } = window.internals;
    const device = await testDevice();
    const problems: string[] = [];
    for (let seed = 0; seed < 16; seed++) {
      const arrays = [1, 2, 4, 8, 16].map((itemsize) => randomArray(seed * 16 + itemsize, itemsize, 1 + ((seed * 7919) % 40_000)));
      problems.push(...(await uploadArrays(device, arrays, seed)));
    }
    return problems;
  });
  expect(problems).toEqual([]);
});

test("odd lengths, scalars and empty arrays are right, and padding is zero", async ({ page }) => {
  const problems = await page.evaluate(async () => {
    const { testDevice, uploadArrays } = window.internals;
    const dtypes = ["bool", "int4", "uint2", "float8_e5m2", "bfloat16", "float32", "int64", "complex128"] as const;
    const shapes = [[], [0], [3, 0], [1], [3], [5], [17], [3, 5], [1, 1, 1]];
    const arrays = dtypes.flatMap((dtype) => shapes.map((shape) => ({ spec: { shape, dtype }, chunkShape: shape })));
    return uploadArrays(await testDevice(), arrays, 1);
  });
  expect(problems).toEqual([]);
});

test("a given buffer takes the array and zeros up to the next word, and keeps what lies behind", async ({ page }) => {
  const problems = await page.evaluate(async () => {
    const { testDevice, uploadArrays } = window.internals;
    const odd = { shape: [2001, 7], dtype: "uint8" } as const;
    const cases = [8, 9, 12, 20, 256].map((intoSize) => ({ spec: { shape: [5], dtype: "int8" } as const, chunkShape: [2], intoSize }));
    const scattered = [0x8c, 0x0c, 0x2c, 0x48 | 0x4].map((usage) => ({ spec: odd, chunkShape: [2001, 3], intoSize: 14_016, usage }));
    const exact = { spec: odd, chunkShape: [2001, 2], intoSize: 14_008 };
    return uploadArrays(await testDevice(), [...cases, ...scattered, exact], 2);
  });
  expect(problems).toEqual([]);
});

test("buffers without STORAGE take chunks of short rows", async ({ page }) => {
  const problems = await page.evaluate(async () => {
    const { differencesOfUniforms, testDevice, upload, uploadArrays } = window.internals;
    const device = await testDevice();
    const array = { spec: { shape: [3000, 5], dtype: "bfloat16" } as const, chunkShape: [1500, 2] };
    const uniform = await upload(device, [{ ...array, usage: 0x40 }], 4);
    const problems = await differencesOfUniforms(device, uniform);
    return [...problems, ...(await uploadArrays(device, [{ ...array, usage: 0x20 | 0x4 }], 3))];
  });
  expect(problems).toEqual([]);
});

test("arrays larger than the pieces they are sent and read in are right", async ({ page }) => {
  const problems = await page.evaluate(async () => {
    const { testDevice, uploadArrays } = window.internals;
    const whole = { spec: { shape: [9 * 2 ** 20 + 1], dtype: "bfloat16" } as const, chunkShape: [9 * 2 ** 20 + 1] };
    const columns = { spec: { shape: [500, 6001], dtype: "bfloat16" } as const, chunkShape: [500, 3001] };
    return uploadArrays(await testDevice(), [whole, columns], 5);
  });
  expect(problems).toEqual([]);
});

test("short rows reach all of a given buffer that is larger than a binding may be", async ({ page }) => {
  const wrong = await page.evaluate(async () => {
    const { openUpload, readBack, testDevice } = window.internals;
    const device = await testDevice();
    const [rows, columns, column] = [2 ** 20, 140, 7] as const;
    const into = device.createBuffer({ size: rows * columns, usage: 0x8c });
    const upload = await openUpload(device, [{ leaf: "model/tall", spec: { shape: [rows, columns], dtype: "uint8" }, into }]);
    const data = new Uint8Array(rows).fill(9);
    await upload.write([{ index: 0, block: { origin: [0, column], shape: [rows, 1], elementOffset: 0, data } }]);
    await upload.finish();
    const bytes = await readBack(device, into, rows * columns);
    return bytes.reduce((count, byte, at) => count + (byte === (at % columns === column ? 9 : 0) ? 0 : 1), 0);
  });
  expect(wrong).toBe(0);
});

test("an aborted upload leaves no buffer", async ({ page }) => {
  const outcome = await page.evaluate(async () => {
    const { countBuffers, openUpload, testDevice } = window.internals;
    const device = await testDevice();
    const count = countBuffers(device);
    const controller = new AbortController();
    const leaves = ["a", "b", "c"].map((leaf) => ({ leaf, spec: { shape: [64 * 1024 * 1024], dtype: "uint8" } as const }));
    const upload = await openUpload(device, leaves, { signal: controller.signal });
    const data = new Uint8Array(64 * 1024 * 1024);
    const block = { origin: [0], shape: [data.length], elementOffset: 0, data };
    const { queue } = device;
    const writeBuffer = queue.writeBuffer.bind(queue);
    let sent = 0;
    queue.writeBuffer = (...given) => {
      if (++sent === 5) queueMicrotask(() => controller.abort(new Error("enough")));
      writeBuffer(...given);
    };
    const writes = leaves.map((_, index) => upload.write([{ index, block }]));
    const before = count();
    const reasons = (await Promise.allSettled(writes)).flatMap((write) => (write.status === "rejected" ? [String(write.reason)] : []));
    return { before, after: count(), reasons };
  });
  expect(outcome.before).toMatchObject({ made: 3, alive: 3 });
  expect(outcome.after).toMatchObject({ alive: 0, aliveBytes: 0 });
  expect(new Set(outcome.reasons)).toEqual(new Set(["Error: enough"]));
});

test("a device that is lost in the middle is a DeviceError, and nothing hangs", async ({ page }) => {
  const outcome = await page.evaluate(async () => {
    const { countBuffers, failureOf, openUpload, testDevice } = window.internals;
    const device = await testDevice();
    const count = countBuffers(device);
    const upload = await openUpload(device, [{ leaf: "a", spec: { shape: [2 ** 27], dtype: "uint8" } }]);
    const data = new Uint8Array(2 ** 27);
    const block = { origin: [0], shape: [data.length], elementOffset: 0, data };
    const writing = failureOf(Promise.resolve(upload.write([{ index: 0, block }])));
    device.destroy();
    return { write: await writing, finish: await failureOf(upload.finish()), count: count() };
  });
  expect(outcome.write).toMatchObject({ name: "DeviceError", reason: "lost", message: expect.stringContaining("destroyed") });
  expect(outcome.finish).toMatchObject({ reason: "lost" });
  expect(outcome.count.alive).toBe(0);
});

test("reading from a lost device or a destroyed buffer is a DeviceError", async ({ page }) => {
  const outcome = await page.evaluate(async () => {
    const { failureOf, testDevice, upload } = window.internals;
    const device = await testDevice();
    const array = { spec: { shape: [4], dtype: "float32" } as const, chunkShape: [4] };
    const { arrays } = await upload(device, [array, array], 1);
    arrays[0]?.buffer.destroy();
    const destroyed = await failureOf(arrays[0]?.read());
    const reading = failureOf(arrays[1]?.read());
    device.destroy();
    return { destroyed, lost: await reading, later: await failureOf(arrays[1]?.read()) };
  });
  expect(outcome.destroyed).toMatchObject({ reason: "validation", leaf: "leaf 0" });
  expect(outcome.lost).toMatchObject({ reason: "lost" });
  expect(outcome.later).toMatchObject({ reason: "lost" });
});

test("buffers given as into that the device cannot take are named before anything is made", async ({ page }) => {
  const failures = await page.evaluate(async () => {
    const { countBuffers, failureOf, openUpload, testDevice } = window.internals;
    const device = await testDevice();
    const other = await testDevice();
    const descriptor = { size: 16, usage: 0x8c };
    const destroyed = device.createBuffer(descriptor);
    destroyed.destroy();
    const givens = [destroyed, other.createBuffer(descriptor), device.createBuffer({ ...descriptor, mappedAtCreation: true })];
    const count = countBuffers(device);
    const spec = { shape: [4], dtype: "uint8" } as const;
    const failures = [];
    for (const into of givens) {
      failures.push(
        await failureOf(
          openUpload(device, [
            { leaf: "model/new", spec },
            { leaf: "model/given", spec, into },
          ]),
        ),
      );
    }
    return { failures, made: count().made };
  });
  for (const failure of failures.failures)
    expect(failure).toMatchObject({ name: "DeviceError", reason: "validation", leaf: "model/given" });
  expect(failures.made).toBe(0);
});

test("limits are the device's own, and requiredLimits gives a device that can", async ({ page }) => {
  const outcome = await page.evaluate(async () => {
    const { failureOf, openUpload, requiredLimits, testDevice } = window.internals;
    const spec = { shape: [257 * 1024, 1024], dtype: "uint8" } as const;
    const refused = await failureOf(openUpload(await testDevice(), [{ leaf: "model/wide", spec }]));
    const device = await testDevice({ ...requiredLimits([spec]) });
    const upload = await openUpload(device, [{ leaf: "model/wide", spec }]);
    upload.abort();
    return { refused, size: device.limits.maxBufferSize };
  });
  expect(outcome.refused).toMatchObject({
    reason: "limit",
    leaf: "model/wide",
    bytes: 257 * 2 ** 20,
    limit: { name: "maxBufferSize", value: 2 ** 28 },
  });
  expect(outcome.size).toBe(257 * 2 ** 20);
});
