import fc from "fast-check";
import { expect, test } from "vitest";
import { placeBlock } from "./place.js";

test("chunks of any size, cut into blocks anywhere, rebuild the array", () => {
  const axis = fc.record({ length: fc.integer({ min: 1, max: 40 }), chunk: fc.integer({ min: 1, max: 45 }) });
  fc.assert(
    fc.property(axis, axis, fc.integer({ min: 1, max: 97 }), (rows, columns, piece) => {
      const shape = [rows.length, columns.length];
      const values = Uint16Array.from({ length: rows.length * columns.length }, (_, index) => index);
      const target = new Uint8Array(values.byteLength).fill(255);
      for (let row = 0; row < rows.length; row += rows.chunk) {
        for (let column = 0; column < columns.length; column += columns.chunk) {
          const chunk = Uint16Array.from({ length: rows.chunk * columns.chunk }, (_, index) => {
            const at = [row + Math.floor(index / columns.chunk), column + (index % columns.chunk)] as const;
            return at[0] < rows.length && at[1] < columns.length ? at[0] * columns.length + at[1] : 0xdead;
          });
          for (let first = 0; first < chunk.length; first += piece) {
            const data = new Uint8Array(chunk.slice(first, first + piece).buffer);
            const block = { origin: [row, column], shape: [rows.chunk, columns.chunk], elementOffset: first, data };
            placeBlock(target, { shape, dtype: "uint16" }, block);
          }
        }
      }
      expect(new Uint16Array(target.buffer)).toEqual(values);
    }),
  );
});

test("a scalar is placed", () => {
  const target = new Uint8Array(4);
  placeBlock(target, { shape: [], dtype: "float32" }, { origin: [], shape: [], elementOffset: 0, data: new Uint8Array([1, 2, 3, 4]) });
  expect([...target]).toEqual([1, 2, 3, 4]);
});
