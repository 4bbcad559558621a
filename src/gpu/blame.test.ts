import { expect, test } from "vitest";
import { blameLargest } from "./blame.js";

const blame = (leaf: string, bytes: number) => ({ leaf, bytes, doing: "writing to its buffer" });

test("blames the largest leaf, and counts each of the others once", () => {
  const [a, b, c] = [blame("a", 16), blame("b", 64), blame("c", 32)];
  const doing = "writing to its buffer or one of the 2 written with it";
  expect(blameLargest([a, b, c, a, b], "written with it")).toEqual({ leaf: "b", bytes: 64, doing });
  expect(blameLargest([a, a], "written with it")).toBe(a);
});
