import { type Rule, shown } from "../arguments.js";

/** An adapter, or the promise of a device that nobody awaited, is easily taken for one. */
export const aDevice: Rule = {
  expected: "a GPUDevice, as await adapter.requestDevice() gives it",
  accepts: (value) => {
    const { createBuffer, limits, queue } = (value ?? {}) as Partial<GPUDevice>;
    return typeof createBuffer === "function" && limits !== undefined && queue !== undefined;
  },
  shown,
};

/** Known by its members, since there may be no such class here. */
const aBuffer: Rule = {
  expected: "a GPUBuffer",
  accepts: (value) => {
    const { size, usage } = (value ?? {}) as Partial<GPUBuffer>;
    return typeof size === "number" && typeof usage === "number";
  },
  shown,
};

/** Of 31 bits: beyond, flags would be lost, or negative, without a word. */
const someUsage: Rule = {
  expected: "flags of GPUBufferUsage, joined with |",
  accepts: (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) < 2 ** 31,
  shown,
};

/** Of how an array is put on a device. */
export const placementRules = { usage: someUsage, into: aBuffer };
