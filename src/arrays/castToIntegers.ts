import type { CastValues } from "./castValues.js";
import { type Dtype, dtypes, type HostData, type Integers, lowBits } from "./dtypes.js";

/** Dtypes that {@link castToIntegers} makes. */
export type IntegerDtype = { [Name in Dtype]: (typeof dtypes)[Name]["kind"] extends "bool" | "int" | "uint" ? Name : never }[Dtype];

/** Whether a dtype is bool or an integer. */
export const isIntegerDtype = (dtype: Dtype): dtype is IntegerDtype => ["bool", "int", "uint"].includes(dtypes[dtype].kind);

/**
 * Casts to bool (anything but zero is true, NaN too) or an integer dtype: integers wrap, floats lose their fraction.
 * C++ leaves a float outside the target's range undefined. Here it is what TensorStore gives on x86-64, value by value:
 * targets up to 16 bits and int32 take the low bits of the value as int32, uint32 those of the value as int64, and what
 * fits into neither, NaN too, counts as their lowest value (for uint32 TensorStore's answer also depends on where in the
 * array the element stands; this is its answer at the end). uint64 is 0 from 2^64 on, and 2^63 below −2^63 and for NaN.
 * uint2 and uint4, which TensorStore lacks, are the low bits of uint8, as int2 and int4 are those of int8, and as NumPy casts them.
 */
export function castToIntegers(values: CastValues, to: IntegerDtype): HostData {
  switch (to) {
    case "bool":
      return toBool(values);
    case "int2":
    case "int4":
    case "uint2":
    case "uint4":
      return lowBits(lowWords(values), to);
    case "int64":
    case "uint64":
      return toLongs(values, to);
    case "uint32":
      return new Uint32Array(isFloat(values) ? floatsToUint32(values.numbers) : lowWords(values));
    default:
      return new dtypes[to].host(lowWords(values));
  }
}

type Floats = Float32Array | Float64Array;

const isFloat = (values: CastValues) => values.kind === "singles" || values.kind === "doubles";

function toBool(values: CastValues): Uint8Array {
  if (values.kind === "longs") {
    const { words } = values;
    return Uint8Array.from({ length: words.length / 2 }, (_, index) => (words[2 * index] === 0 && words[2 * index + 1] === 0 ? 0 : 1));
  }
  const { numbers } = values;
  const truths = new Uint8Array(numbers.length);
  for (let index = 0; index < truths.length; index++) truths[index] = numbers[index] === 0 ? 0 : 1;
  return truths;
}

/** Numbers whose low bits are those of the values; a TypedArray that is made of them takes them modulo its size. */
function lowWords(values: CastValues): Integers {
  switch (values.kind) {
    case "integers":
      return values.numbers;
    case "longs":
      return everyOther(values.words);
    case "singles":
    case "doubles":
      return floatsToInt32(values.numbers);
    default:
      return values satisfies never;
  }
}

function everyOther(words: Uint32Array): Uint32Array {
  const low = new Uint32Array(words.length / 2);
  for (let index = 0; index < low.length; index++) low[index] = words[2 * index] ?? 0;
  return low;
}

function floatsToInt32(numbers: Floats): Int32Array {
  const integers = new Int32Array(numbers.length);
  for (let index = 0; index < integers.length; index++) {
    const number = numbers[index] ?? 0;
    integers[index] = number > -0x80000001 && number < 0x80000000 ? number : -0x80000000;
  }
  return integers;
}

function floatsToUint32(numbers: Floats): Uint32Array {
  const integers = new Uint32Array(numbers.length);
  for (let index = 0; index < integers.length; index++) {
    const number = numbers[index] ?? 0;
    integers[index] = number >= -two63 && number < two63 ? number : 0;
  }
  return integers;
}

const two32 = 2 ** 32;
const two63 = 2 ** 63;
const two64 = 2 ** 64;

function toLongs(values: CastValues, to: "int64" | "uint64"): HostData {
  const words = longWords(values, to === "uint64");
  return new dtypes[to].host(words.buffer as ArrayBuffer);
}

function longWords(values: CastValues, unsigned: boolean): Uint32Array {
  switch (values.kind) {
    case "integers":
      return integersToLongs(values.numbers);
    case "longs":
      return values.words.slice();
    case "singles":
    case "doubles":
      return floatsToLongs(values.numbers, unsigned ? two64 : two63);
    default:
      return values satisfies never;
  }
}

function integersToLongs(numbers: Integers): Uint32Array {
  const words = new Uint32Array(numbers.length * 2);
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] ?? 0;
    words[2 * index] = number;
    words[2 * index + 1] = number < 0 ? 0xffffffff : 0;
  }
  return words;
}

function floatsToLongs(numbers: Floats, limit: number): Uint32Array {
  const words = new Uint32Array(numbers.length * 2);
  const beyond = limit === two64 ? 0 : 0x80000000;
  for (let index = 0; index < numbers.length; index++) {
    const number = Math.trunc(numbers[index] ?? 0);
    if (number >= -two63 && number < limit) {
      words[2 * index] = number;
      words[2 * index + 1] = Math.floor(number / two32);
    } else {
      words[2 * index + 1] = number >= limit ? beyond : 0x80000000;
    }
  }
  return words;
}
