import { describe, expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { readHex } from "./records.testing.js";
import { greatestHeight, manifestVersionNodes, versionNodeChildren } from "./versionNodeReferences.js";

const files = [{ basePath: "", relativePath: "d/0" }];

interface Row {
  readonly generation: number;
  readonly height?: number;
  readonly numGenerations?: number;
}

const hexOfRows = (rows: readonly Row[]) => {
  const column = (value: (row: Row) => number | undefined) => rows.map((row) => value(row)?.toString(16).padStart(2, "0") ?? "").join("");
  const count = rows.length.toString(16).padStart(2, "0");
  const zeros = "00".repeat(rows.length);
  return `${count} ${column((row) => row.generation)} ${zeros} ${zeros} ${zeros} ${column((row) => row.numGenerations ?? 1)} ${zeros.repeat(8)} ${column((row) => row.height)}`;
};

test("knows the greatest height of each arity", () => {
  expect([1, 2, 4, 5, 16].map(greatestHeight)).toEqual([62, 30, 14, 11, 2]);
});

describe("in the manifest, with groups of two", () => {
  const nodes = (rows: readonly Row[], last = 41n) => readHex(manifestVersionNodes(1, files, last), hexOfRows(rows));

  // Of 1 to 41, 41 stands in the manifest itself; these are the nodes that hold the others.
  const all = [
    { generation: 16, height: 4 },
    { generation: 32, height: 3 },
    { generation: 36, height: 2 },
    { generation: 40, height: 1 },
  ];

  test.each<[string, Row[]]>([
    ["none", []],
    ["all", all],
    ["the newest", all.slice(2)],
    ["the oldest", all.slice(0, 1)],
  ])("takes %s of those there can be", (_, rows) => {
    expect(nodes(rows).map(({ generation, height }) => ({ generation: Number(generation), height }))).toEqual(rows);
  });

  test.each<[string, Row[]]>([
    ["height 0", [{ generation: 40, height: 0 }]],
    ["a height above the greatest", [{ generation: 40, height: 63 }]],
    ["a height above those of its generations", [{ generation: 16, height: 5 }]],
    [
      "equal heights",
      [
        { generation: 33, height: 2 },
        { generation: 36, height: 2 },
      ],
    ],
    [
      "rising heights",
      [
        { generation: 32, height: 2 },
        { generation: 40, height: 4 },
      ],
    ],
    [
      "falling generations",
      [
        { generation: 40, height: 4 },
        { generation: 36, height: 2 },
      ],
    ],
    ["generations of a greater height", [{ generation: 32, height: 2 }]],
    ["generations of a lower height", [{ generation: 37, height: 2 }]],
    ["a generation that stands in the manifest", [{ generation: 41, height: 1 }]],
  ])("refuses %s", (_, rows) => {
    expect(() => nodes(rows)).toThrow(CorruptCheckpointError);
  });

  test("refuses a node where all generations stand in the manifest", () => {
    expect(nodes([], 2n)).toEqual([]);
    expect(() => nodes([{ generation: 1, height: 1 }], 2n)).toThrow(CorruptCheckpointError);
  });

  test("ends where generations are as large as they can be", () => {
    const hex = hexOfRows([]);
    for (const arity of [1, 4, 16]) expect(readHex(manifestVersionNodes(arity, files, 2n ** 64n - 1n), hex)).toEqual([]);
  });
});

describe("below a node of height 1, with groups of four", () => {
  const children = (rows: readonly Row[]) => readHex(versionNodeChildren(2, files, 1), hexOfRows(rows));

  test("takes children of full groups, one height below", () => {
    expect(children([{ generation: 4 }, { generation: 16, numGenerations: 4 }]).map(({ height }) => height)).toEqual([0, 0]);
  });

  test.each<[string, Row[]]>([
    ["no children", []],
    ["more than the arity", [4, 8, 12, 16, 20].map((generation) => ({ generation }))],
    ["generation 0", [{ generation: 0 }]],
    ["equal generations", [{ generation: 4 }, { generation: 4 }]],
    ["half a group", [{ generation: 6 }]],
    ["more generations than a group has", [{ generation: 4, numGenerations: 5 }]],
    ["children of two nodes", [{ generation: 16 }, { generation: 20 }]],
  ])("refuses %s", (_, rows) => {
    expect(() => children(rows)).toThrow(CorruptCheckpointError);
  });
});
