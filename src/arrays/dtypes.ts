/**
 * Every dtype that Orbax writes, and uint2 and uint4, by JAX's name: `itemsize` bytes an element on disk, in memory and on the GPU (sub-byte
 * dtypes take a whole byte), `bits` of value, `unit` the bytes that a byte order swap reverses, `v2` and `v3` the zarr names.
 * Source: TensorStore's zarr drivers and ml_dtypes, checked against files that Orbax 0.12.8 wrote; for uint2 and uint4, which TensorStore
 * lacks, zarr's registry of extensions, and files that Flax wrote.
 */
export const dtypes = {
  bool: { kind: "bool", itemsize: 1, bits: 1, unit: 1, v2: "|b1", v3: "bool", host: Uint8Array },
  int2: { kind: "int", itemsize: 1, bits: 2, unit: 1, v2: "int2", v3: "int2", host: Int8Array },
  int4: { kind: "int", itemsize: 1, bits: 4, unit: 1, v2: "int4", v3: "int4", host: Int8Array },
  int8: { kind: "int", itemsize: 1, bits: 8, unit: 1, v2: "|i1", v3: "int8", host: Int8Array },
  int16: { kind: "int", itemsize: 2, bits: 16, unit: 2, v2: "<i2", v3: "int16", host: Int16Array },
  int32: { kind: "int", itemsize: 4, bits: 32, unit: 4, v2: "<i4", v3: "int32", host: Int32Array },
  int64: { kind: "int", itemsize: 8, bits: 64, unit: 8, v2: "<i8", v3: "int64", host: BigInt64Array },
  uint2: { kind: "uint", itemsize: 1, bits: 2, unit: 1, v2: "uint2", v3: "uint2", host: Uint8Array },
  uint4: { kind: "uint", itemsize: 1, bits: 4, unit: 1, v2: "uint4", v3: "uint4", host: Uint8Array },
  uint8: { kind: "uint", itemsize: 1, bits: 8, unit: 1, v2: "|u1", v3: "uint8", host: Uint8Array },
  uint16: { kind: "uint", itemsize: 2, bits: 16, unit: 2, v2: "<u2", v3: "uint16", host: Uint16Array },
  uint32: { kind: "uint", itemsize: 4, bits: 32, unit: 4, v2: "<u4", v3: "uint32", host: Uint32Array },
  uint64: { kind: "uint", itemsize: 8, bits: 64, unit: 8, v2: "<u8", v3: "uint64", host: BigUint64Array },
  float16: { kind: "float", itemsize: 2, bits: 16, unit: 2, v2: "<f2", v3: "float16", host: Uint16Array },
  bfloat16: { kind: "float", itemsize: 2, bits: 16, unit: 2, v2: "bfloat16", v3: "bfloat16", host: Uint16Array },
  float32: { kind: "float", itemsize: 4, bits: 32, unit: 4, v2: "<f4", v3: "float32", host: Float32Array },
  float64: { kind: "float", itemsize: 8, bits: 64, unit: 8, v2: "<f8", v3: "float64", host: Float64Array },
  complex64: { kind: "complex", itemsize: 8, bits: 64, unit: 4, v2: "<c8", v3: "complex64", host: Float32Array },
  complex128: { kind: "complex", itemsize: 16, bits: 128, unit: 8, v2: "<c16", v3: "complex128", host: Float64Array },
  float4_e2m1fn: { kind: "float", itemsize: 1, bits: 4, unit: 1, v2: "float4_e2m1fn", v3: "float4_e2m1fn", host: Uint8Array },
  float8_e3m4: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e3m4", v3: "float8_e3m4", host: Uint8Array },
  float8_e4m3fn: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e4m3fn", v3: "float8_e4m3fn", host: Uint8Array },
  float8_e4m3fnuz: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e4m3fnuz", v3: "float8_e4m3fnuz", host: Uint8Array },
  float8_e4m3b11fnuz: {
    kind: "float",
    itemsize: 1,
    bits: 8,
    unit: 1,
    v2: "float8_e4m3b11fnuz",
    v3: "float8_e4m3b11fnuz",
    host: Uint8Array,
  },
  float8_e5m2: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e5m2", v3: "float8_e5m2", host: Uint8Array },
  float8_e5m2fnuz: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e5m2fnuz", v3: "float8_e5m2fnuz", host: Uint8Array },
  float8_e8m0fnu: { kind: "float", itemsize: 1, bits: 8, unit: 1, v2: "float8_e8m0fnu", v3: "float8_e8m0fnu", host: Uint8Array },
} as const;

/** Name of a dtype as JAX and numpy print it. */
export type Dtype = keyof typeof dtypes;

/** TypedArray that holds a dtype in memory; 16-bit and smaller floats are their bits, complex numbers pairs (real part first). */
export type HostData<Name extends Dtype = Dtype> = (typeof dtypes)[Name]["host"]["prototype"];

/** Whether a text names a dtype of the table. */
export const isDtype = (name: string): name is Dtype => Object.hasOwn(dtypes, name);

/** Whether Orbax saves and restores a dtype: TensorStore 0.1.86 has no uint2 and no uint4. */
export const isSavable = (dtype: Dtype): boolean => dtype !== "uint2" && dtype !== "uint4";

/** Dtypes without a counterpart in WGSL or in JAX without x64, and what JAX narrows each to. */
export const narrowed = { float64: "float32", int64: "int32", uint64: "uint32", complex128: "complex64" } as const satisfies Partial<
  Record<Dtype, Dtype>
>;

/** Dtype that JAX without x64 gives for a 64-bit one; the same dtype otherwise. */
export const narrowDtype = (dtype: Dtype): Dtype => (Object.hasOwn(narrowed, dtype) ? narrowed[dtype as keyof typeof narrowed] : dtype);

/** Whether a dtype's elements are pairs of floats. */
export const isComplex = (dtype: Dtype): dtype is "complex64" | "complex128" => dtypes[dtype].kind === "complex";

/**
 * Whether elements of one dtype can become those of another: all but complex ones to bool, which TensorStore does not cast either, and
 * float8_e8m0fnu, whose casts there are off by 64 powers of two.
 */
export function canCast(from: Dtype, to: Dtype): boolean {
  if (from === to) return true;
  return !(isComplex(from) && to === "bool") && ![from, to].includes("float8_e8m0fnu");
}

/** Numbers of up to 32 bits. */
export type Integers = Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** Integers below a byte. */
export type NarrowInteger = "int2" | "int4" | "uint2" | "uint4";

/** Whether a dtype's integers are below a byte. */
export const isNarrowInteger = (dtype: Dtype): dtype is NarrowInteger => ["int2", "int4", "uint2", "uint4"].includes(dtype);

/** Integers with what stands above the low bits of the dtype replaced: by the sign, or by zeros where it has none. */
export function lowBits(data: Integers, dtype: NarrowInteger): Int8Array | Uint8Array {
  const { bits, kind, host } = dtypes[dtype];
  const narrow = new host(data.length);
  const shift = 32 - bits;
  if (kind === "int") for (let index = 0; index < narrow.length; index++) narrow[index] = ((data[index] ?? 0) << shift) >> shift;
  else for (let index = 0; index < narrow.length; index++) narrow[index] = ((data[index] ?? 0) << shift) >>> shift;
  return narrow;
}
