import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { btreeNode } from "./btreeNode.js";
import { openRecord } from "./envelope.js";
import { btreeNodes, checkRoundTrips, hexBytes, hexOf, readHex } from "./records.testing.js";
import { vectors } from "./vectors.testing.js";

const ascii = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const open = (hex: string) => openRecord("B+tree node", btreeNode, hexBytes(hex), { path: "d/0", offset: 0 });

test("reads a leaf that Orbax wrote", async () => {
  const node = await open(vectors.orbaxLeaf);
  if (node.kind !== "leaf") throw new Error("no leaf");
  expect(node.files).toEqual([]);
  expect(Array.from(node.entries.keys, ascii)).toEqual(["a/.zarray", "a/0", "b.c/.zarray", "b.c/0"]);
  const values = Array.from(node.entries.values, (value) => (value.kind === "inline" ? value.bytes : new Uint8Array()));
  expect(values.map((value) => value.length)).toEqual([164, 41, 164, 21]);
  expect(JSON.parse(ascii(values[0] ?? new Uint8Array()))).toMatchObject({ chunks: [8], dtype: "<i4", shape: [8] });
  expect(hexOf(values[3] ?? new Uint8Array())).toBe("28b52ffd0000610000010000000200000003000000");
});

test("reads the smallest leaf", async () => {
  const node = await open(vectors.handmadeLeaf);
  if (node.kind !== "leaf") throw new Error("no leaf");
  expect(node.entries.length).toBe(2);
  expect(node.entries.values.at(1)).toEqual({ kind: "inline", bytes: hexBytes("0000803f00000040") });
});

test("reads an interior node that TensorStore wrote", async () => {
  const child = { fileId: 0, subtreeCommonPrefixLength: 2, numKeys: 3n };
  expect(await open(vectors.interiorNode)).toEqual({
    kind: "interior",
    height: 1,
    files: [{ basePath: "", relativePath: "d/80aa05f7b23bb1aa579cfdd7a23b4191" }],
    children: [
      { ...child, key: new TextEncoder().encode("m.a/.zarray"), offset: 60n, length: 94n, numTreeBytes: 94n, numIndirectValueBytes: 40n },
      { ...child, key: new TextEncoder().encode("m.b/0"), offset: 154n, length: 89n, numTreeBytes: 89n, numIndirectValueBytes: 20n },
    ],
  });
});

test("random nodes come back", () => {
  checkRoundTrips(btreeNode, btreeNodes, 400);
});

test.each([
  ["no entries", "00 00 00"],
  ["more entries than bytes", "00 00 808040 00"],
  ["more entries than a node may have", `00 00 818040 ${"00".repeat(10)}`],
  ["more children than bytes", "01 00 02 00 0101 0000"],
  ["a child in a file that is not there", "01 00 01 01 00 61 00 00 10 01 00 00"],
  ["bytes behind the entries", "00 00 01 01 00 00 61 00"],
  ["a cut column", "00 00 02 00 0101 6162 00"],
])("refuses %s", (_, hex) => {
  expect(() => readHex(btreeNode, hex)).toThrow(CorruptCheckpointError);
});
