import { expect, test } from "vitest";
import { roundToSmallFloat } from "./roundFloats.js";
import { float32BitsOf, isSmallFloat, type SmallFloat, smallFloats } from "./smallFloats.js";

const targets = (Object.keys(smallFloats) as SmallFloat[]).filter((dtype) => isSmallFloat(dtype) && dtype !== "float8_e8m0fnu");
const bitsOf = (...values: number[]) => new Uint32Array(Float32Array.from(values).buffer);
const isNan = (bits: number) => (bits & 0x7fffffff) > 0x7f800000;

test("every value that a small float has is rounded to its own code", () => {
  for (const dtype of targets) {
    const bits = float32BitsOf(dtype);
    const codes = roundToSmallFloat(bits, dtype);
    for (const [code, whole] of bits.entries()) {
      const own = dtype === "float4_e2m1fn" ? code & 15 : code;
      if (!isNan(whole)) expect(codes[code], `${dtype} ${code}`).toBe(own);
    }
  }
});

test("between two neighbours the nearer one is taken, and the even one halfway", () => {
  for (const dtype of targets) {
    const values = new Float32Array(float32BitsOf(dtype).buffer);
    const last = values.findLastIndex((value, code) => Number.isFinite(value) && value > 0 && code < values.length / 2);
    for (let code = 0; code < (dtype === "float4_e2m1fn" ? 7 : last); code += dtype.endsWith("16") ? 97 : 1) {
      const [low, high] = [values[code] ?? 0, values[code + 1] ?? 0];
      const middle = low + (high - low) / 2;
      if (Math.fround(middle) !== middle || high < 2 ** -120) continue;
      const [below, halfway, above] = roundToSmallFloat(bitsOf(middle - (high - low) / 64, middle, middle + (high - low) / 64), dtype);
      expect([below, halfway, above], `${dtype} ${code}`).toEqual([code, code + (code & 1), code + 1]);
    }
  }
});

test("beyond the last value lies infinity, NaN or the last value again", () => {
  const beyond = Object.fromEntries(targets.map((dtype) => [dtype, [...roundToSmallFloat(bitsOf(1e38, Number.NEGATIVE_INFINITY), dtype)]]));
  expect(beyond).toEqual({
    float16: [0x7c00, 0xfc00],
    bfloat16: [0x7e96, 0xff80],
    float8_e3m4: [0x70, 0xf0],
    float8_e4m3fn: [0x7f, 0xff],
    float8_e4m3fnuz: [0x80, 0x80],
    float8_e4m3b11fnuz: [0x80, 0x80],
    float8_e5m2: [0x7c, 0xfc],
    float8_e5m2fnuz: [0x80, 0x80],
    float4_e2m1fn: [0x7, 0xf],
  });
});

test("nothing is rounded to float8_e8m0fnu", () => {
  expect(() => roundToSmallFloat(bitsOf(1), "float8_e8m0fnu")).toThrow(RangeError);
});
