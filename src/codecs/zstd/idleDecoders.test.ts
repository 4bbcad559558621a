import { expect, test } from "vitest";
import type { ZstdDecoder } from "./decoder.js";
import { giveBackDecoder, takeDecoder } from "./idleDecoders.js";

async function take(): Promise<ZstdDecoder> {
  const decoder = await takeDecoder();
  if (decoder === undefined) throw new Error("no WebAssembly");
  return decoder;
}

test("decoders are used again, four are kept, and none that has grown", async () => {
  const first = await Promise.all(Array.from({ length: 6 }, take));
  expect(new Set(first).size).toBe(6);
  for (const decoder of first) giveBackDecoder(decoder);
  const second = await Promise.all(Array.from({ length: 6 }, take));
  expect(second.filter((decoder) => first.includes(decoder))).toHaveLength(4);

  const [grown] = second;
  if (grown === undefined) throw new Error("none");
  grown.beginBlocks(25, { longestDecoded: 2 ** 30, encodedLength: 1 });
  expect(grown.memoryBytes).toBeGreaterThan(2 ** 25);
  giveBackDecoder(grown);
  expect(await take()).not.toBe(grown);
});
