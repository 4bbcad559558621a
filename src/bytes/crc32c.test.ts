import { expect, test } from "vitest";
import { crc32c } from "./crc32c.js";

const ascii = (text: string) => new TextEncoder().encode(text);

test("gives the check value of CRC-32C", () => {
  expect(crc32c(ascii("123456789"))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array())).toBe(0);
});

test("gives the values of RFC 3720, B.4, unsigned", () => {
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
});

test("reads a view's own bytes only", () => {
  const bytes = ascii("xx123456789xx");
  expect(crc32c(bytes.subarray(2, 11))).toBe(0xe3069283);
});
