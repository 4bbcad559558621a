import { expect, test } from "vitest";
import { collect } from "./collect.js";

const tooLong = () => new Error("too long");

async function* pieces(...lengths: number[]) {
  let next = 0;
  for (const length of lengths) yield Uint8Array.from({ length }, () => next++ % 256);
}

test("puts pieces together, whatever length was expected", async () => {
  const all = Uint8Array.from({ length: 40_000 }, (_, index) => index % 256);
  for (const expected of [undefined, 0, 10, 40_000, 50_000]) {
    const bytes = await collect(pieces(1, 20_000, 0, 19_999), expected, Number.POSITIVE_INFINITY, tooLong);
    expect(Buffer.compare(bytes, all)).toBe(0);
    expect(bytes.buffer.byteLength).toBe(40_000);
  }
  expect(await collect(pieces(), 1e15, Number.POSITIVE_INFINITY, tooLong)).toHaveLength(0);
});

test("stops as soon as there is too much, and leaves the source", async () => {
  let left = false;
  async function* endless() {
    try {
      for (;;) yield new Uint8Array(100);
    } finally {
      left = true;
    }
  }
  await expect(collect(endless(), undefined, 250, tooLong)).rejects.toThrow("too long");
  expect(left).toBe(true);
  expect(await collect(pieces(100, 150), undefined, 250, tooLong)).toHaveLength(250);
});
