// @ts-check

/**
 * What the demo page leaves in `window.orbaxDemoReport` when it has ended.
 * @typedef {object} DemoReport
 * @property {"done" | "error"} status
 * @property {string} [message] What went wrong.
 * @property {DemoLeaf[]} [leaves] Every restored leaf, in tree order.
 * @property {{ correct: number, total: number, samples?: { label: number, predicted: number }[] }} [predictions] On the bundled test images.
 *
 * @typedef {object} DemoLeaf
 * @property {string} path Item and keys, such as `model/dense/kernel`.
 * @property {string} dtype
 * @property {readonly number[]} shape
 * @property {number} bytes
 * @property {readonly (number | string)[] | string} first First values.
 *
 * @typedef {{ requests: number, bytes: number }} Traffic What the server was asked for, and the bytes of its answers.
 */

/**
 * The report as text: a table of the leaves, what the model predicts, what it took.
 * @param {DemoReport} report
 * @param {Traffic} traffic
 */
export function formatReport({ leaves = [], predictions }, traffic) {
  const rows = leaves.map(({ path, dtype, shape, bytes, first }) => [
    path,
    dtype,
    shape.length === 0 ? "scalar" : shape.join(" × "),
    grouped(bytes),
    firstText(first),
  ]);
  const total = leaves.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...tableLines(["path", "dtype", "shape", "bytes", "first values"], rows, new Set([3])),
    "",
    `restored     ${leaves.length} leaves, ${grouped(total)} bytes`,
    ...predictionLines(predictions),
    `transferred  ${grouped(traffic.bytes)} bytes in ${traffic.requests} requests`,
    "",
  ].join("\n");
}

/** Columns as wide as their widest cell, two spaces apart; `right` has the indices of those with numbers. */
function tableLines(/** @type {string[]} */ head, /** @type {string[][]} */ rows, /** @type {Set<number>} */ right) {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (/** @type {string[]} */ cells) =>
    cells
      .map((cell, column) => (right.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}

/** @param {DemoReport["predictions"]} predictions */
function predictionLines(predictions) {
  if (predictions === undefined) return [];
  const { correct, total, samples = [] } = predictions;
  const shown = samples.map(({ label, predicted }) => (label === predicted ? `${label}` : `${label} taken for ${predicted}`));
  return [
    `predicted    ${correct} of ${total} test images right (${((100 * correct) / total).toFixed(1)} %)`,
    ...(shown.length > 0 ? [`             the first ones: ${shown.join(", ")}`] : []),
  ];
}

/** At most four values, numbers to four significant digits. */
function firstText(/** @type {DemoLeaf["first"]} */ first) {
  if (typeof first === "string") return first;
  return first
    .slice(0, 4)
    .map((value) => (typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(4))) : String(value)))
    .join(", ");
}

const grouped = (/** @type {number} */ count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
