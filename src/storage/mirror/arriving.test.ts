import { expect, test } from "vitest";
import { Arriving } from "./arriving.js";
import { BlockMemory } from "./blockMemory.js";

async function all(pieces: AsyncIterable<Uint8Array | undefined>): Promise<(number[] | undefined)[]> {
  const got: (number[] | undefined)[] = [];
  for await (const piece of pieces) got.push(piece && [...piece]);
  return got;
}

test("all who wait get the bytes as they come, in memory that the sender does not share", async () => {
  const arriving = new Arriving(5);
  const waiting = [all(arriving.pieces()), all(arriving.pieces())];
  const memory = Uint8Array.of(1, 2);
  arriving.add(memory);
  memory.fill(9);
  await new Promise((resolve) => setTimeout(resolve));
  expect([arriving.length, arriving.isWhole]).toEqual([2, false]);
  arriving.give(Uint8Array.of(3, 4, 5));
  for (const got of waiting)
    expect(await got).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  expect(await all(arriving.pieces())).toEqual([[1, 2, 3, 4, 5]]);
  expect(await arriving.whole()).toEqual(Uint8Array.of(1, 2, 3, 4, 5));
});

test("bytes that are given all at once are not copied", async () => {
  const arriving = new Arriving(3);
  const bytes = Uint8Array.of(1, 2, 3);
  const whole = arriving.whole();
  arriving.give(bytes);
  expect(await whole).toBe(bytes);
});

test("a failure comes after the bytes before it, and never where all have come", async () => {
  const arriving = new Arriving(3);
  arriving.add(Uint8Array.of(1));
  const pieces = arriving.pieces();
  expect((await pieces.next()).value).toEqual(Uint8Array.of(1));
  const whole = arriving.whole();
  arriving.fail(new Error("enough"));
  await expect(pieces.next()).rejects.toThrow("enough");
  await expect(whole).rejects.toThrow("enough");
  const done = new Arriving(1);
  done.add(Uint8Array.of(7));
  done.fail(new Error("late"));
  expect(await done.whole()).toEqual(Uint8Array.of(7));
});

test("a file that is not there is undefined", async () => {
  const arriving = new Arriving(3);
  const waiting = all(arriving.pieces());
  arriving.endAbsent();
  expect(await waiting).toEqual([undefined]);
  expect(await arriving.whole()).toBeUndefined();
});

test("who takes what there is gets it from a position on, and an end where the rest fails", async () => {
  const arriving = new Arriving(6);
  arriving.add(Uint8Array.of(1, 2));
  const some = all(arriving.from(1, 3));
  const rest = all(arriving.from(2, 4));
  arriving.add(Uint8Array.of(3, 4, 5));
  expect(await some).toEqual([[2], [3, 4]]);
  arriving.fail(new Error("enough"));
  expect(await rest).toEqual([[3, 4, 5]]);
  expect(await all(arriving.from(5, 1))).toEqual([]);
});

test("lent memory is used again when who brought the bytes and who read them have both ended", async () => {
  const memory = new BlockMemory();
  const length = 3_000_000;
  const bring = () => {
    const arriving = new Arriving(length, memory);
    arriving.add(new Uint8Array(length));
    return arriving;
  };
  const [first, second] = [bring(), bring()];
  const bufferOf = async (arriving: Arriving) => (await arriving.whole())?.buffer;
  first.release();
  expect(await bufferOf(bring())).not.toBe(await bufferOf(first));
  first.release();
  expect(await bufferOf(bring())).toBe(await bufferOf(first));
  second.release();
  second.release();
  expect(await bufferOf(bring())).toBe(await bufferOf(second));
});
