import { expect, test, vi } from "vitest";
import { lazyCodec } from "./lazyCodec.js";
import { none } from "./none.js";

const request = { longestDecoded: 3, path: "d/0" };

async function* pieces() {
  yield Uint8Array.of(1, 2, 3);
}

test("a codec is loaded by the first bytes, once, and does what it does", async () => {
  const load = vi.fn(async () => none);
  const codec = lazyCodec("none", load);
  expect(codec.name).toBe("none");
  expect(load).not.toHaveBeenCalled();
  expect(await codec.decode(Uint8Array.of(1, 2, 3), request)).toEqual(Uint8Array.of(1, 2, 3));
  for await (const piece of codec.stream(pieces(), request)) expect(piece).toEqual(Uint8Array.of(1, 2, 3));
  expect(load).toHaveBeenCalledTimes(1);
});

test("one that could not be loaded is tried again", async () => {
  const load = vi.fn(async () => none).mockRejectedValueOnce(new TypeError("offline"));
  const codec = lazyCodec("none", load);
  await expect(codec.decode(Uint8Array.of(1), request)).rejects.toThrow("offline");
  expect(await codec.decode(Uint8Array.of(1), request)).toEqual(Uint8Array.of(1));
});
