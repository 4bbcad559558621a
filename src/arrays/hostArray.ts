import { anObject, type Rule, requireArgument, shown, someBytes } from "../arguments.js";
import { CheckpointValueError } from "../errors.js";
import { aligned } from "./aligned.js";
import { readValues } from "./castValues.js";
import { type Dtype, dtypes, type HostData } from "./dtypes.js";
import { elementCount } from "./spec.js";
import { aDtype, aShape } from "./specRules.js";
import { toFloat32 } from "./toFloat32.js";

/** An array in memory, in C order. Floats below 32 bits are their bits; complex numbers are pairs, real part first. */
export interface HostArray<Name extends Dtype = Dtype> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly data: HostData<Name>;
  /**
   * The values as float32, rounded to nearest where they do not fit; `data` itself where it is float32 already.
   * @throws CheckpointValueError for complex arrays, which have no real values.
   */
  toFloat32(): Float32Array;
}

const bytesInMemory: Rule = {
  expected: "a Uint8Array or an ArrayBuffer",
  accepts: (value) => someBytes.accepts(value) || /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value)),
  shown,
};

/**
 * Views little-endian bytes in C order as an array; copies them only where they are not aligned to the element.
 * Every platform that has WebGPU is little endian, so the platform's order is the file's.
 * @throws CheckpointValueError for a shape or dtype that is none, and where the number of bytes does not fit them.
 */
export function hostArray<Name extends Dtype>(
  spec: { readonly shape: readonly number[]; readonly dtype: Name },
  bytes: Uint8Array | ArrayBuffer,
): HostArray<Name> {
  requireArgument("what hostArray takes first", spec, { ...anObject, expected: "{ shape, dtype }" });
  const { shape, dtype } = spec;
  requireArgument("hostArray's shape", shape, aShape);
  requireArgument("hostArray's dtype", dtype, aDtype);
  requireArgument("what hostArray takes as bytes", bytes, bytesInMemory);
  const given = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
  const { itemsize, host } = dtypes[dtype];
  const expected = elementCount(shape) * itemsize;
  if (given.byteLength !== expected) {
    throw new CheckpointValueError(`a ${dtype} array of shape [${shape.join(", ")}] has ${expected} bytes, not ${given.byteLength}`);
  }
  const data = new host(...aligned(given, host.BYTES_PER_ELEMENT));
  return new ArrayInMemory(shape, dtype, data as HostData<Name>);
}

/** The array's bytes as files and GPU buffers hold them: little endian, C order; a view, not a copy. */
export const hostBytes = ({ data }: { readonly data: HostData }): Uint8Array =>
  new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A class for the sake of the method: arrays of equal contents stay deeply equal. */
class ArrayInMemory<Name extends Dtype> implements HostArray<Name> {
  readonly shape: readonly number[];
  readonly dtype: Name;
  readonly data: HostData<Name>;

  constructor(shape: readonly number[], dtype: Name, data: HostData<Name>) {
    this.shape = shape;
    this.dtype = dtype;
    this.data = data;
  }

  toFloat32(): Float32Array {
    if (dtypes[this.dtype].kind === "complex") {
      throw new CheckpointValueError(`a ${this.dtype} array has no float32 values; its data holds pairs, real part first`);
    }
    return toFloat32(readValues(this.dtype, hostBytes(this)));
  }
}
