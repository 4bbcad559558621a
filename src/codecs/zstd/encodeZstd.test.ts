import Zstd from "numcodecs/zstd";
import { expect, test, vi } from "vitest";
import { zstd } from "../zstd.js";
import { encodeZstd } from "./encodeZstd.js";
import { parseFrameHeader } from "./frameHeader.js";

test.each([0, 1, 1000, 300_000])("%i bytes become one frame that tells its length", async (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * index) >> 7);
  const frame = await encodeZstd(bytes);
  expect(await zstd.decode(frame, { longestDecoded: length, decodedLength: length, path: "chunk" })).toEqual(bytes);
  expect(parseFrameHeader(frame)).toMatchObject({ contentSize: length });
});

test("where the encoder does not run, the error says what to allow or to do instead", async () => {
  const refusing = { encode: () => Promise.reject(new EvalError("refused")) } as unknown as ReturnType<typeof Zstd.fromConfig>;
  vi.spyOn(Zstd, "fromConfig").mockReturnValue(refusing);
  const refused = await encodeZstd(new Uint8Array(2000)).catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "StorageError", reason: "unavailable", cause: new EvalError("refused") });
  expect(String(refused)).toMatch(/cannot compress 2,000 bytes here \(EvalError: refused\).*'unsafe-eval'.*save without compression$/);
});
