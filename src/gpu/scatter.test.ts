import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Dtype, dtypes } from "../arrays/dtypes.js";
import { placeBlock } from "../arrays/place.js";
import { elementCount } from "../arrays/spec.js";
import { BufferSet } from "./bufferSet.js";
import { DeviceWatch } from "./deviceWatch.js";
import { FakeDevice } from "./fakeDevice.testing.js";
import { canScatter, Scatter } from "./scatter.js";

const blame = { leaf: "a", bytes: 0, doing: "placing" };

const axes = fc.array(
  fc.record({ array: fc.integer({ min: 1, max: 9 }), chunk: fc.integer({ min: 1, max: 10 }), at: fc.integer({ min: 0, max: 8 }) }),
  { minLength: 1, maxLength: 4 },
);
const itemDtypes = fc.constantFrom<Dtype[]>("int8", "bfloat16", "float32", "complex64", "complex128");

describe("Scatter", () => {
  it("places any part of any chunk as placeBlock does, over several bindings", () => {
    fc.assert(
      fc.property(
        axes,
        itemDtypes,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (lengths, dtype, from, part) => {
          const spec = { shape: lengths.map(({ array }) => array), dtype };
          const shape = lengths.map(({ chunk }) => chunk);
          const origin = lengths.map(({ array, chunk, at }) => chunk * (at % Math.ceil(array / chunk)));
          const { itemsize } = dtypes[dtype];
          const elements = elementCount(shape);
          const elementOffset = Math.floor(from * elements);
          const count = Math.max(0, Math.ceil((elements - elementOffset) * part));
          const data = Uint8Array.from({ length: count * itemsize }, (_, index) => 1 + (index % 255));
          const block = { origin, shape, elementOffset, data };

          const size = Math.ceil((elementCount(spec.shape) * itemsize) / 4) * 4;
          const expected = new Uint8Array(size);
          placeBlock(expected, spec, block);
          const device = new FakeDevice({ maxStorageBufferBindingSize: 4 * 1024 * 1024 });
          const buffer = device.createBuffer({ size, usage: 0x8c });
          const watch = new DeviceWatch(device.gpu);
          new Scatter(watch, new BufferSet(watch)).place(buffer.gpu, spec, block, blame);
          expect(device.uncaptured).toEqual([]);
          expect([...buffer.bytes]).toEqual([...expected]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("binds a large array in parts", async () => {
    const device = new FakeDevice({ maxStorageBufferBindingSize: 4 * 1024 * 1024 });
    const spec = { shape: [9 * 1024, 1024], dtype: "uint8" as const };
    const buffer = device.createBuffer({ size: 9 * 1024 * 1024, usage: 0x8c });
    const watch = new DeviceWatch(device.gpu);
    const block = { origin: [0, 7], shape: [9 * 1024, 1], elementOffset: 0, data: new Uint8Array(9 * 1024).fill(5) };
    new Scatter(watch, new BufferSet(watch)).place(buffer.gpu, spec, block, blame);
    await watch.settle();
    expect(device.dispatches).toBe(3);
    expect(buffer.bytes.filter((byte, index) => byte === (index % 1024 === 7 ? 5 : 0))).toHaveLength(buffer.size);
  });

  it("leaves arrays beyond 32-bit addresses and many axes to others", () => {
    expect(canScatter({ shape: [2 ** 16, 2 ** 16 - 1], dtype: "uint8" })).toBe(true);
    expect(canScatter({ shape: [2 ** 16, 2 ** 16], dtype: "uint8" })).toBe(false);
    expect(canScatter({ shape: Array.from({ length: 40 }, () => 1), dtype: "uint8" })).toBe(false);
  });
});
