import { describe, expect, it } from "vitest";
import { isSavedSet, savedBytes, savedSet, savedWord } from "./savedSets.js";

describe("a set that is saved", () => {
  it("is told from one that Python writes", () => {
    expect(isSavedSet("save-256m")).toBe(true);
    expect(isSavedSet("f32-64")).toBe(false);
    expect(isSavedSet("toString")).toBe(false);
  });

  it.each([
    ["save-256m", 64, 256],
    ["save-512m", 64, 512],
    ["save-512m-array", 1, 512],
  ] as const)("%s has %d arrays, %d MiB together", (name, count, mebibytes) => {
    const { bytes, arrays } = savedSet(name, 1);
    expect(arrays.length).toBe(count);
    expect(bytes).toBe(mebibytes * 2 ** 20);
    expect(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(bytes);
    expect(new Set(arrays.map(({ name }) => name)).size).toBe(count);
  });

  it("is a sixteenth where it shall be quick", () => {
    expect(savedBytes("save-512m", 16)).toBe(32 * 2 ** 20);
  });

  it("tells words of each array, the first and the last among them", () => {
    for (const [at, { byteLength, indices, words }] of savedSet("save-256m", 16).arrays.entries()) {
      expect(indices[0]).toBe(0);
      expect(indices.at(-1)).toBe(byteLength / 4 - 1);
      expect(words).toEqual(indices.map((index) => savedWord(at, index)));
    }
  });
});

describe("the saved words", () => {
  it("are finite float32 and hardly ever the same", () => {
    const words = Array.from({ length: 4096 }, (_, at) => savedWord(at >> 10, at & 1023));
    expect(new Set(words).size).toBeGreaterThan(4090);
    expect(new Float32Array(Uint32Array.from(words).buffer).every(Number.isFinite)).toBe(true);
  });
});
