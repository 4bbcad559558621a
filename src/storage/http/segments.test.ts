import { expect, it } from "vitest";
import { ByteBudget } from "../../tasks/budget.js";
import { inSegments, mostUnread, type OpenSegment } from "./segments.js";

const mebibyte = 1024 * 1024;
const range = { offset: 0, length: 25 * mebibyte };
const absent = () => new Error("absent");

async function* piecesOf({ length }: { readonly length: number }) {
  for (let left = length; left > 0; left -= mebibyte) yield new Uint8Array(Math.min(left, mebibyte));
}

it("whoever leaves does not wait for the answer to the segment that was asked for ahead, whose request is aborted", async () => {
  const signals: AbortSignal[] = [];
  const open: OpenSegment = (segment, signal) => {
    signals.push(signal);
    if (segment.offset === 0) return Promise.resolve(piecesOf(segment));
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const unread = new ByteBudget(mostUnread);
  const read = async () => {
    let length = 0;
    for await (const piece of inSegments(range, open, absent, unread, {})) {
      length += piece.length;
      if (length === 20 * mebibyte) throw new Error("the reader failed");
    }
  };
  await expect(read()).rejects.toThrow("the reader failed");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  expect(unread.used).toBe(0);
});

it("nothing is aborted where all was read", async () => {
  const signals: AbortSignal[] = [];
  const open: OpenSegment = async (segment, signal) => {
    signals.push(signal);
    return piecesOf(segment);
  };
  let length = 0;
  for await (const piece of inSegments(range, open, absent, new ByteBudget(mostUnread), {})) length += piece.length;
  expect(length).toBe(range.length);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
});
