import { expect, test } from "vitest";
import { headLength, readHead } from "./head.js";

const heads: [string, string, object][] = [
  ["fixint", "7f", { kind: "int", value: 127 }],
  ["negative fixint", "e0", { kind: "int", value: -32 }],
  ["fixmap", "8f", { kind: "map", count: 15 }],
  ["fixarray", "91", { kind: "array", count: 1 }],
  ["fixstr", "a0", { kind: "string", length: 0 }],
  ["nil", "c0", { kind: "nil" }],
  ["false", "c2", { kind: "bool", value: false }],
  ["true", "c3", { kind: "bool", value: true }],
  ["bin 8", "c4 ff", { kind: "binary", length: 255 }],
  ["bin 16", "c5 01 00", { kind: "binary", length: 256 }],
  ["bin 32", "c6 80 00 00 00", { kind: "binary", length: 2 ** 31 }],
  ["ext 8", "c7 0c 01", { kind: "extension", length: 12, type: 1 }],
  ["ext 16", "c8 01 00 ff", { kind: "extension", length: 256, type: -1 }],
  ["ext 32", "c9 ff ff ff ff 03", { kind: "extension", length: 2 ** 32 - 1, type: 3 }],
  ["float 32", "ca 3f c0 00 00", { kind: "float", value: 1.5 }],
  ["float 64", "cb 3f b9 99 99 99 99 99 9a", { kind: "float", value: 0.1 }],
  ["uint 8", "cc ff", { kind: "int", value: 255 }],
  ["uint 16", "cd ff ff", { kind: "int", value: 65535 }],
  ["uint 32", "ce ff ff ff ff", { kind: "int", value: 2 ** 32 - 1 }],
  ["uint 64", "cf ff ff ff ff ff ff ff ff", { kind: "int", value: 2n ** 64n - 1n }],
  ["a small uint 64", "cf 00 1f ff ff ff ff ff ff", { kind: "int", value: 2 ** 53 - 1 }],
  ["int 8", "d0 80", { kind: "int", value: -128 }],
  ["int 16", "d1 80 00", { kind: "int", value: -32768 }],
  ["int 32", "d2 80 00 00 00", { kind: "int", value: -(2 ** 31) }],
  ["int 64", "d3 80 00 00 00 00 00 00 00", { kind: "int", value: -(2n ** 63n) }],
  ["fixext 1", "d4 04", { kind: "extension", length: 1, type: 4 }],
  ["fixext 16", "d8 02", { kind: "extension", length: 16, type: 2 }],
  ["str 8", "d9 20", { kind: "string", length: 32 }],
  ["str 16", "da 01 01", { kind: "string", length: 257 }],
  ["str 32", "db 00 01 00 00", { kind: "string", length: 65536 }],
  ["array 16", "dc 00 10", { kind: "array", count: 16 }],
  ["array 32", "dd 00 01 00 00", { kind: "array", count: 65536 }],
  ["map 16", "de 00 10", { kind: "map", count: 16 }],
  ["map 32", "df ff ff ff ff", { kind: "map", count: 2 ** 32 - 1 }],
];

test.each(heads)("%s", (_, hex, head) => {
  const bytes = Uint8Array.from(hex.split(" "), (pair) => Number.parseInt(pair, 16));
  expect(headLength(bytes[0] ?? 0)).toBe(bytes.length);
  expect(readHead(bytes)).toEqual(head);
});

test("one byte begins nothing", () => {
  expect(headLength(0xc1)).toBe(1);
  expect(readHead(Uint8Array.of(0xc1))).toBeUndefined();
});
