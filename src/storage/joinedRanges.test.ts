import fc from "fast-check";
import { expect, test } from "vitest";
import { joinedRanges } from "./joinedRanges.js";
import { memoryStorage } from "./memory.js";

const file = Uint8Array.from({ length: 200 }, (_, index) => index);

const range = fc.record({ offset: fc.nat(99), length: fc.nat(100) });

test("any range of the joined bytes is that of their copy", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 6 }), fc.nat(), fc.nat(), async (ranges, from, to) => {
      const whole = Uint8Array.from(ranges.flatMap(({ offset, length }) => [...file.subarray(offset, offset + length)]));
      const joined = joinedRanges(memoryStorage({ file }), "file", ranges);
      const offset = from % (whole.length + 1);
      const length = to % (whole.length - offset + 1);
      expect(await joined.read("file", { range: { offset, length } })).toEqual(whole.subarray(offset, offset + length));
      expect(await joined.read("file")).toEqual(whole);
    }),
  );
});

test("lists nothing, and an abort stops a read", async () => {
  const joined = joinedRanges(memoryStorage({ file }), "file", [{ offset: 0, length: 10 }]);
  expect(joined.name).toBe("memory");
  expect(await joined.list("")).toEqual({ files: [], directories: [] });
  await expect(joined.read("file", { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
});
