import { expect, test } from "vitest";
import { type FileWriter, gatheringWriter, growingWriter, writeWhole } from "./fileWriter.js";

test("gathers copies of the pieces, and stores them as one, once", async () => {
  const stored: Uint8Array[] = [];
  const writer = gatheringWriter((bytes) => void stored.push(bytes), undefined);
  const piece = Uint8Array.of(1, 2, 3);
  await writer.write(piece);
  await writer.write(piece.fill(4));
  piece.fill(9);
  expect(stored).toEqual([]);
  await writer.close();
  expect(stored).toEqual([Uint8Array.of(1, 2, 3, 4, 4, 4)]);
});

test("a file that grows has all pieces so far, which later ones do not change", async () => {
  const stored: Uint8Array[] = [];
  const writer = growingWriter((bytes) => void stored.push(bytes), undefined);
  const piece = new Uint8Array(700).fill(1);
  await writer.write(piece);
  await writer.write(piece.fill(2));
  await writer.abort();
  const expected = [...new Array(700).fill(1), ...new Array(700).fill(2)];
  expect(stored.map((bytes) => [...bytes])).toEqual([expected.slice(0, 700), expected]);
});

test("what failed at the end can be given up", async () => {
  const writer = gatheringWriter(() => Promise.reject(new Error("full")), undefined);
  await writer.write(new Uint8Array(3));
  await expect(writer.close()).rejects.toThrow("full");
  await writer.abort();
});

test.each(["write", "close"] as const)("a whole file is given up where its %s fails", async (failing) => {
  const calls: string[] = [];
  const call = (name: string) => async () => {
    calls.push(name);
    if (name === failing) throw new Error("full");
  };
  const writer: FileWriter = { write: call("write"), close: call("close"), abort: call("abort") };
  await expect(writeWhole(Promise.resolve(writer), new Uint8Array(3))).rejects.toThrow("full");
  expect(calls.slice(-2)).toEqual([failing, "abort"]);
});
