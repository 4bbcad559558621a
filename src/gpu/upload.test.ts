import { describe, expect, it } from "vitest";
import { FakeDevice, type FakeDeviceOptions } from "./fakeDevice.testing.js";
import type { GpuLeaf } from "./limits.js";
import { openUpload } from "./upload.js";

const mebibyte = 2 ** 20;
const vector = (length: number, name = "a"): GpuLeaf => ({ leaf: name, spec: { shape: [length], dtype: "uint8" } });
const whole = (length: number, value = 1) => ({ origin: [0], shape: [length], elementOffset: 0, data: new Uint8Array(length).fill(value) });

const block = (index: number, length: number, value = 1) => ({ index, block: whole(length, value) });

async function open(leaves: readonly GpuLeaf[], options: FakeDeviceOptions = {}, signal?: AbortSignal) {
  const device = new FakeDevice(options);
  return { device, upload: await openUpload(device.gpu, leaves, { signal }) };
}

/** Nothing of ours is left on the device: no buffer, no open scope, no error that nobody caught. */
function expectNothingLeft(device: FakeDevice): void {
  expect(device.alive).toEqual([]);
  expect(device.openScopes).toBe(0);
  expect(device.uncaptured).toEqual([]);
}

describe("openUpload", () => {
  it("gives arrays in the order of the leaves, with nothing else left on the device", async () => {
    const { device, upload } = await open([vector(5, "model/a"), vector(0, "model/b"), vector(16, "model/c")]);
    await Promise.all([upload.write([block(2, 16, 3)]), upload.write([block(0, 5, 2)])]);
    const [a, b, c] = await upload.finish();
    expect(a).toMatchObject({ shape: [5], dtype: "uint8", byteLength: 5, device: device.gpu, buffer: { label: "model/a", size: 16 } });
    expect(b).toMatchObject({ shape: [0], byteLength: 0, buffer: { size: 16 } });
    expect([...((await c?.read())?.data ?? [])]).toEqual(Array.from({ length: 16 }, () => 3));
    expect(device.alive).toHaveLength(3);
    expect([...(device.alive[0]?.bytes ?? [])]).toEqual([2, 2, 2, 2, 2, ...Array.from({ length: 11 }, () => 0)]);
  });

  it("makes no buffer where a limit or an aborted signal forbids it", async () => {
    const device = new FakeDevice({ maxBufferSize: 1024 });
    await expect(openUpload(device.gpu, [vector(5), vector(1025)])).rejects.toMatchObject({ reason: "limit" });
    await expect(openUpload(device.gpu, [vector(5)], { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(device.buffers).toEqual([]);
  });

  it("takes no leaves at all", async () => {
    const { upload } = await open([]);
    expect(await upload.finish()).toEqual([]);
  });

  it("rejects for a leaf that it does not have", async () => {
    const { upload } = await open([vector(1)]);
    expect(() => upload.write([block(1, 1)])).toThrow(RangeError);
  });
});

describe("write", () => {
  const small = Array.from({ length: 64 }, (_, index) => vector(16 * 1024, `leaf ${index}`));

  it("takes a batch of small arrays with one call each and one pair of error scopes for all, without a promise", async () => {
    const { device, upload } = await open(small);
    const { scopes } = device;
    expect(upload.write(small.map((_, index) => block(index, 16 * 1024, index)))).toBeUndefined();
    expect(device.writes).toEqual(small.map(({ leaf }) => ({ label: leaf, offset: 0, byteLength: 16 * 1024 })));
    // A pair for the writes, and one for the making of the buffers.
    expect([device.scopes - scopes, device.submits]).toEqual([4, 0]);
    await upload.finish();
    expect(device.submits).toBe(1);
    expect(device.buffers.map(({ bytes }) => bytes[77])).toEqual(small.map((_, index) => index));
  });

  it("writes a whole array that the window has room for at once, and cuts what is longer", async () => {
    const { device, upload } = await open([vector(4 * mebibyte), vector(20 * mebibyte, "b")]);
    expect(upload.write([block(0, 4 * mebibyte)])).toBeUndefined();
    await upload.write([block(1, 20 * mebibyte)]);
    expect(device.writes).toEqual([
      { label: "a", offset: 0, byteLength: 4 * mebibyte },
      ...[0, 4, 8, 12, 16].map((at) => ({ label: "b", offset: at * mebibyte, byteLength: 4 * mebibyte })),
    ]);
  });

  it("keeps what the device has yet to take within the window, submitting each half of it", async () => {
    const { device, upload } = await open([vector(48 * mebibyte)]);
    const data = new Uint8Array(mebibyte);
    const piece = (elementOffset: number) => ({ index: 0, block: { origin: [0], shape: [48 * mebibyte], elementOffset, data } });
    const writes = Array.from({ length: 48 }, (_, at) => upload.write([piece(at * mebibyte)]));
    expect(device.mostUntaken).toBe(8 * mebibyte);
    expect(writes.filter((write) => write === undefined)).toHaveLength(8);
    await Promise.all(writes);
    expect([device.mostUntaken, device.submits, device.writes.length]).toEqual([8 * mebibyte, 12, 48]);
  });

  it("keeps to a small window with short rows too", async () => {
    const spec = { shape: [64 * 1024, 5], dtype: "uint8" } as const;
    const device = new FakeDevice();
    const upload = await openUpload(device.gpu, [{ leaf: "a", spec }], { windowBytes: 64 * 1024 });
    const data = new Uint8Array(64 * 1024).fill(7);
    await upload.write([{ index: 0, block: { origin: [0, 3], shape: [64 * 1024, 1], elementOffset: 0, data } }]);
    await upload.finish();
    expect(device.dispatches).toBe(2);
    expect(device.mostUntaken).toBeLessThan(66 * 1024);
    expect(Math.max(...device.buffers.slice(1).map(({ size }) => size))).toBe(32 * 1024);
    expect(device.buffers[0]?.bytes.every((byte, index) => byte === (index % 5 === 3 ? 7 : 0))).toBe(true);
  });

  it("blames the largest of the leaves that were written together", async () => {
    const leaves = [vector(4), vector(400, "large"), vector(4, "c")];
    const { upload } = await open(leaves, { onWrite: (index) => (index === 2 ? "out-of-memory" : undefined) });
    await upload.write([block(0, 4), block(1, 400), block(2, 4)]);
    await expect(upload.finish()).rejects.toMatchObject({
      leaf: "large",
      bytes: 400,
      message: expect.stringContaining("2 written with it"),
    });
  });
});

describe("an upload that fails", () => {
  it.each([0, 1, 100, 199])("destroys all buffers when the device runs out of memory at buffer %i", async (failing) => {
    const device = new FakeDevice({ onCreate: (index) => (index === failing ? "out-of-memory" : undefined) });
    const leaves = Array.from({ length: 200 }, (_, index) => vector(100_000, `leaf ${index}`));
    const upload = await openUpload(device.gpu, leaves);
    await expect(upload.finish()).rejects.toMatchObject({ name: "DeviceError", reason: "out-of-memory", bytes: 100_000 });
    expectNothingLeft(device);
  });

  it("says that it has no memory for a buffer, not that the buffer cannot be written to", async () => {
    let report = () => {};
    const reports = new Promise<void>((resolve) => {
      report = resolve;
    });
    const { device, upload } = await open([vector(4)], { onCreate: () => "out-of-memory", reports });
    expect(upload.write([block(0, 4)])).toBeUndefined();
    report();
    await expect(upload.finish()).rejects.toMatchObject({ reason: "out-of-memory", message: expect.stringContaining("making its buffer") });
    expectNothingLeft(device);
  });

  it("destroys all buffers when createBuffer throws", async () => {
    const onCreate = (index: number) => {
      if (index === 1) throw new RangeError("Array buffer allocation failed");
      return undefined;
    };
    const device = new FakeDevice({ onCreate });
    const upload = await openUpload(device.gpu, [vector(1), vector(2)]);
    await expect(upload.finish()).rejects.toMatchObject({ reason: "out-of-memory" });
    expectNothingLeft(device);
  });

  it.each([0, 1, 2])("destroys all buffers when the device is lost at leaf %i", async (lostAt) => {
    const { device, upload } = await open([vector(4), vector(4), vector(4)], { hangs: true });
    const restoring = (async () => {
      for (const index of [0, 1, 2]) {
        if (index === lostAt) device.lose();
        await upload.write([block(index, 4)]);
      }
      return upload.finish();
    })();
    await expect(restoring).rejects.toMatchObject({ reason: "lost" });
    expectNothingLeft(device);
  });

  it("does not hang when the device is lost before it starts", async () => {
    const device = new FakeDevice({ hangs: true, rejectsPopAfterLoss: true });
    device.lose();
    const opened = openUpload(device.gpu, [vector(4)]).then((upload) => upload.finish());
    await expect(opened).rejects.toMatchObject({ reason: "lost" });
    expectNothingLeft(device);
  });

  it.each(["out-of-memory", "validation"] as const)("reports a write that ends in %s", async (filter) => {
    const into = new FakeDevice().createBuffer({ size: 16, usage: 8 });
    const onWrite = (index: number) => (index === 1 ? filter : undefined); // write 0 asks about the given buffer
    const { device, upload } = await open([{ ...vector(4), into: into.gpu }, vector(4)], { onWrite });
    await upload.write([block(0, 4)]);
    await expect(upload.finish()).rejects.toMatchObject({ reason: filter, leaf: "a" });
    expectNothingLeft(device);
    expect(into.destroyed).toBe(false);
  });

  it("ends every write under way when one fails", async () => {
    const leaves = [vector(2 ** 25), vector(2 ** 25), vector(4)];
    const { device, upload } = await open(leaves, { hangs: true, onWrite: (index) => (index === 1 ? "out-of-memory" : undefined) });
    const writes = await Promise.allSettled([
      upload.write([block(0, 2 ** 25)]),
      upload.write([block(1, 2 ** 25)]),
      upload.write([block(2, 4)]),
    ]);
    expect(writes.map(({ status }) => status)).toContain("rejected");
    await expect(upload.finish()).rejects.toMatchObject({ reason: "out-of-memory" });
    expectNothingLeft(device);
  });
});

describe("abort", () => {
  it("destroys the buffers it made, never a given one, and may be called again", async () => {
    const into = new FakeDevice().createBuffer({ size: 16, usage: 8 });
    const { device, upload } = await open([vector(4), { ...vector(4), into: into.gpu }]);
    await upload.write([block(0, 4)]);
    const { submits } = device;
    upload.abort();
    upload.abort();
    expect(device.submits - submits).toBe(1); // else Chromium does not free what was destroyed
    expectNothingLeft(device);
    expect(into.destroyed).toBe(false);
    expect(() => upload.write([block(0, 4)])).toThrow("aborted");
    await expect(upload.finish()).rejects.toThrow("aborted");
  });

  it("destroys them also after the end", async () => {
    const { device, upload } = await open([vector(4)]);
    await upload.finish();
    upload.abort();
    expectNothingLeft(device);
  });

  it("comes with the signal, in the middle of a write that waits", async () => {
    const controller = new AbortController();
    const { device, upload } = await open([vector(2 ** 26)], { hangs: true }, controller.signal);
    const writing = upload.write([block(0, 2 ** 26)]);
    setTimeout(() => controller.abort(new Error("enough")), 5);
    await expect(writing).rejects.toThrow("enough");
    expectNothingLeft(device);
  });
});
