import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOf } from "../../bytes/ranges.js";
import { fileShares, streamRuns } from "./planJobs.js";

const mebibyte = 2 ** 20;

/** Ranges of some lengths, one behind the other. */
function neighbours(lengths: readonly number[], gap = 0) {
  let offset = 0;
  return lengths.map((length) => {
    const range = { offset, length };
    offset += length + gap;
    return range;
  });
}

describe("streamRuns", () => {
  it.each([
    ["64 chunks of 3.7 MiB", Array(64).fill(3.7 * mebibyte), 16],
    ["one frame of 237 MiB", [237 * mebibyte], 1],
    ["a gigabyte in chunks of 4 MiB", Array(256).fill(4 * mebibyte), 64],
    ["2,048 chunks of 15 KiB", Array(2048).fill(15 * 1024), 4],
    ["one large chunk between small ones", [...Array(10).fill(1000), 60 * mebibyte, ...Array(10).fill(1000)], 3],
  ])("reads %s by few requests", (_, lengths, most) => {
    expect(streamRuns(neighbours(lengths)).length).toBeLessThanOrEqual(most);
  });

  it("leaves gaps above 64 KiB alone", () => {
    expect(streamRuns(neighbours([100, 100], 64 * 1024))).toHaveLength(1);
    expect(streamRuns(neighbours([100, 100], 64 * 1024 + 1))).toHaveLength(2);
  });

  it("reads every range once, and none that begins before the one before it ended", () => {
    const ranges = fc.array(fc.record({ offset: fc.nat(1e6), length: fc.integer({ min: 1, max: 1e6 }) }), { maxLength: 20 });
    fc.assert(
      fc.property(ranges, (given) => {
        const runs = streamRuns(given);
        const members = runs.flatMap((run) => run.members);
        expect(members).toHaveLength(given.length);
        expect(new Set(members)).toEqual(new Set(given));
        for (const run of runs) {
          let end = run.offset;
          for (const member of run.members) {
            expect(member.offset).toBeGreaterThanOrEqual(end);
            end = endOf(member);
          }
          expect(end).toBe(endOf(run));
        }
      }),
    );
  });
});

describe("fileShares", () => {
  const file = (name: string, lengths: readonly number[]) => ({
    file: name,
    parts: lengths.map((decodedLength, offset) => ({ stored: { offset, decodedLength } })),
  });
  const mebibytes = (parts: readonly { readonly stored: { readonly decodedLength: number } }[]) =>
    parts.reduce((sum, { stored }) => sum + stored.decodedLength, 0) / mebibyte;
  const mebibytesOf = (lengths: readonly number[], workers: number) =>
    fileShares([file("a", lengths)], workers).map(({ parts }) => mebibytes(parts));

  it("gives large shares first and small ones last, few for many parts", () => {
    expect(mebibytesOf(Array(64).fill(4 * mebibyte), 2)).toEqual([64, 48, 36, 24, 20, 16, 12, 8, 4, 4, 4, 4, 4, 4, 4]);
    expect(mebibytesOf([20 * mebibyte, mebibyte, mebibyte], 2)).toEqual([20, 2]);
    expect(mebibytesOf([mebibyte, mebibyte], 4)).toEqual([2]);
    const many = fileShares([file("a", Array(2048).fill(16 * 1024))], 2);
    expect(many.map(({ parts }) => parts.length)).toEqual([512, 384, 288, 256, 256, 256, 96]);
  });

  it("keeps to the order of the file", () => {
    const { parts } = file("a", Array(50).fill(1000));
    const offsets = fileShares([{ file: "a", parts: parts.toReversed() }], 2).flatMap((share) =>
      share.parts.map(({ stored }) => stored.offset),
    );
    expect(offsets).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });

  it("deals several files as one, each share of one of them, those with the longest parts first", () => {
    const files = [
      file(
        "short",
        [4, 4].map((each) => each * mebibyte),
      ),
      file("long", [40 * mebibyte]),
      file(
        "two",
        [4, 4, 4].map((each) => each * mebibyte),
      ),
    ];
    expect(fileShares(files, 2).map((share) => [share.file, mebibytes(share.parts)])).toEqual([
      ["long", 40],
      ["short", 4],
      ["short", 4],
      ["two", 4],
      ["two", 4],
      ["two", 4],
    ]);
  });
});
