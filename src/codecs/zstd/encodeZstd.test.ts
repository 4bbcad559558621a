import { expect, test } from "vitest";
import { zstd } from "../zstd.js";
import { encodeZstd } from "./encodeZstd.js";
import { parseFrameHeader } from "./frameHeader.js";

test.each([0, 1, 1000, 300_000])("%i bytes become one frame that tells its length", async (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * index) >> 7);
  const frame = await encodeZstd(bytes);
  expect(await zstd.decode(frame, { longestDecoded: length, decodedLength: length, path: "chunk" })).toEqual(bytes);
  expect(parseFrameHeader(frame)).toMatchObject({ contentSize: length });
});
