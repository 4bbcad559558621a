import { expect, test } from "vitest";
import { WaitingLine } from "./waitingLine.js";

/** A line for parts of ten. */
function ten() {
  let left = 10;
  const line = new WaitingLine<number>(
    (part) => part <= left,
    (part) => {
      left -= part;
    },
  );
  const giveBack = (part: number) => {
    left += part;
    line.serve();
  };
  return { line, giveBack, left: () => left };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("grants in the order of requests, a small one behind a large one too", async () => {
  const { line, giveBack, left } = ten();
  const log: number[] = [];
  await line.take(6);
  const waiting = [8, 1, 2].map(async (part) => {
    await line.take(part);
    log.push(part);
  });
  expect(line.tryTake(1)).toBe(false);
  await settled();
  expect(log).toEqual([]);
  giveBack(6);
  await settled();
  expect([log, left()]).toEqual([[8, 1], 1]);
  giveBack(1);
  await Promise.all(waiting);
  expect([log, left(), line.tryTake(1)]).toEqual([[8, 1, 2], 0, false]);
});

test("who aborts leaves the line, and those behind move up", async () => {
  const { line, giveBack, left } = ten();
  await line.take(6);
  const controller = new AbortController();
  const aborted = expect(line.take(9, controller)).rejects.toBe("enough");
  const next = line.take(4);
  controller.abort("enough");
  await aborted;
  await next;
  expect(left()).toBe(0);
  await expect(line.take(1, controller)).rejects.toBe("enough");
  giveBack(10);
  expect(left()).toBe(10);
});
