import { expect, test } from "vitest";
import { divideBytes } from "./bytesInFlight.js";

const mebibyte = 2 ** 20;

test.each([
  [64, 0, { reading: 64, sending: 0 }],
  [64, 1, { reading: 56, sending: 8 }],
  [16, 1, { reading: 8, sending: 8 }],
  [16, 2, { reading: 8, sending: 4 }],
  [1024, 1, { reading: 1016, sending: 8 }],
  [1, 4, { reading: 0.5, sending: 0.125 }],
])("%i MiB and %i devices", (total, devices, expected) => {
  const { reading, sending } = divideBytes(total * mebibyte, devices);
  expect({ reading: reading / mebibyte, sending: sending / mebibyte }).toEqual(expected);
});

test("no byte is given twice", () => {
  for (const devices of [1, 2, 3, 7]) {
    const { reading, sending } = divideBytes(1_048_577, devices);
    expect(reading + devices * sending).toBe(1_048_577);
    expect(Number.isInteger(sending)).toBe(true);
  }
});
