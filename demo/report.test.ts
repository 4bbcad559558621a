import { expect, it } from "vitest";
import { formatReport } from "./report.mjs";

const leaves = [
  { path: "model/dense/kernel/value", dtype: "float32", shape: [64, 32], bytes: 8192, first: [0.123456, -1, Number.NaN, 4, 5] },
  { path: "rng", dtype: "uint32", shape: [], bytes: 4, first: "threefry2x32" },
  { path: "optimizer/count", dtype: "int64", shape: [1], bytes: 8, first: ["9007199254740993"] },
];

it("prints a table of the leaves, the predictions and the traffic", () => {
  const predictions = {
    correct: 355,
    total: 360,
    samples: [
      { label: 7, predicted: 7 },
      { label: 8, predicted: 3 },
    ],
  };
  expect(formatReport({ status: "done", leaves, predictions }, { requests: 18, bytes: 1234567 })).toBe(`\
path                      dtype    shape    bytes  first values
------------------------  -------  -------  -----  ------------------
model/dense/kernel/value  float32  64 × 32  8,192  0.1235, -1, NaN, 4
rng                       uint32   scalar       4  threefry2x32
optimizer/count           int64    1            8  9007199254740993

restored     3 leaves, 8,204 bytes
predicted    355 of 360 test images right (98.6 %)
             the first ones: 7, 8 taken for 3
transferred  1,234,567 bytes in 18 requests
`);
});

it("says nothing of predictions that were not made", () => {
  const text = formatReport({ status: "done" }, { requests: 0, bytes: 0 });
  expect(text).toContain("restored     0 leaves, 0 bytes\ntransferred  0 bytes in 0 requests\n");
});
