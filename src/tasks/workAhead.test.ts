import { expect, test } from "vitest";
import { workAhead } from "./workAhead.js";

/** Items, of which it notes what was asked for, and whether it was ended. */
function source(count: number) {
  const log: string[] = [];
  async function* items() {
    try {
      for (let item = 0; item < count; item++) {
        log.push(`item ${item}`);
        yield item;
      }
    } finally {
      log.push("end");
    }
  }
  return { log, items: items() };
}

test("works on some at once, and gives results in order", async () => {
  const { items } = source(5);
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const results = workAhead(items, 2, async (item) => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return item * 10;
  });
  const found: number[] = [];
  const done = (async () => {
    for await (const result of results) found.push(result);
  })();
  // The later one of two ends first.
  for (let left = 5; left > 0; left--) {
    await new Promise((resolve) => setTimeout(resolve));
    ends.pop()?.();
  }
  await new Promise((resolve) => setTimeout(resolve));
  for (const end of ends) end();
  await done;
  expect(found).toEqual([0, 10, 20, 30, 40]);
  expect(most).toBe(2);
});

test("asks for no more items after a failure, or when nobody takes results", async () => {
  const failing = source(10);
  const results = workAhead(failing.items, 3, async (item) => {
    if (item === 1) throw new Error("broken");
    return item;
  });
  expect((await results.next()).value).toBe(0);
  await expect(results.next()).rejects.toThrow("broken");
  expect(failing.log).toEqual(["item 0", "item 1", "item 2", "item 3", "end"]);
  const left = source(10);
  for await (const result of workAhead(left.items, 2, async (item) => item)) if (result === 1) break;
  expect(left.log).toEqual(["item 0", "item 1", "item 2", "end"]);
});
