import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteStrings } from "../bytes/byteStrings.js";
import { compareBytes, startsWithBytes } from "../bytes/compare.js";
import type { InteriorEntry } from "./format/btreeNode.js";
import { childrenWithin, findChild, findKey, keysWithin, restBelow } from "./search.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = ({ key }: { readonly key: Uint8Array }) => new TextDecoder().decode(key);

const child = (key: Uint8Array): InteriorEntry => ({
  key,
  subtreeCommonPrefixLength: 0,
  fileId: 0,
  offset: 0n,
  length: 0n,
  numKeys: 0n,
  numTreeBytes: 0n,
  numIndirectValueBytes: 0n,
});

const key = fc.uint8Array({ maxLength: 4, max: 2 });
const sortedKeys = fc.uniqueArray(key, { maxLength: 12, selector: (one) => one.join() }).map((keys) => keys.sort(compareBytes));

describe("in a leaf", () => {
  test("finds exactly the key", () => {
    const texts = ["", "a", "a/0", "b"];
    const keys = ByteStrings.of(texts.map(bytes));
    for (const [index, text] of texts.entries()) expect(findKey(keys, bytes(text))).toBe(index);
    for (const text of ["A", "a/", "a/00", "c"]) expect(findKey(keys, bytes(text))).toBeUndefined();
    expect(findKey(keys, bytes("node.a/0"), 5)).toBe(2);
    expect(findKey(ByteStrings.of([]), bytes("a"))).toBeUndefined();
  });

  test("finds what a search through all finds", () => {
    fc.assert(
      fc.property(sortedKeys, key, fc.nat(), (keys, wanted, near) => {
        const stored = ByteStrings.of(keys);
        const place = keys.findIndex((one) => compareBytes(one, wanted) === 0);
        expect(findKey(stored, wanted) ?? -1).toBe(place);
        expect(findKey(stored, wanted, 0, near % (keys.length + 1)) ?? -1).toBe(place);
        expect(keysWithin(stored, wanted)).toEqual(keys.filter((one) => startsWithBytes(one, wanted)));
      }),
    );
  });
});

describe("in an interior node", () => {
  const children = ["b", "d", "f"].map((text) => child(bytes(text)));

  test.each([
    ["a", undefined],
    ["b", "b"],
    ["c", "b"],
    ["d", "d"],
    ["zz", "f"],
  ])("the key %s would lie below %s", (wanted, expected) => {
    const found = findChild(children, bytes(wanted));
    expect(found && textOf(found)).toBe(expected);
  });

  test.each([
    ["", ["b", "d", "f"]],
    ["a", []],
    ["b", ["b"]],
    ["c", ["b"]],
    ["d", ["d"]],
    ["z", ["f"]],
  ])("keys that begin with %j would lie below %j", (prefix, expected) => {
    expect(childrenWithin(children, bytes(prefix)).map(textOf)).toEqual(expected);
  });

  test("never leaves a subtree out that holds a matching key", () => {
    fc.assert(
      fc.property(sortedKeys, key, key, (keys, prefix, rest) => {
        const all = keys.map(child);
        const wanted = Uint8Array.of(...prefix, ...rest);
        const holder = findChild(all, wanted);
        if (holder !== undefined) expect(childrenWithin(all, prefix)).toContain(holder);
      }),
    );
  });
});

test("a node holds only keys that begin with what it leaves out", () => {
  expect(restBelow(bytes("m.a/0"), bytes("m."))).toEqual(bytes("a/0"));
  expect(restBelow(bytes("m.a"), bytes("m.a"))).toEqual(bytes(""));
  expect(restBelow(bytes("n.a"), bytes("m."))).toBeUndefined();
  expect(restBelow(bytes("m"), bytes("m."))).toBeUndefined();
});
