import { describe, expect, it } from "vitest";
import { Measurements } from "./measurements.js";
import { resultOf, verdictOf } from "./report/results.js";
import { type Row, rowsOf } from "./rows.js";
import { series } from "./series.js";

const rows = rowsOf({ bytesOnSlowNetwork: () => 100e6, bytesPerSecond: 50e6 });

function row(name: string): Row {
  const found = rows.find((row) => row.name === name);
  if (found === undefined) throw new Error(`there is no row ${name}`);
  return found;
}

describe("the rows", () => {
  it("have names of their own", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  it("aim at more than they require", () => {
    for (const { name, better, required, aim } of rows) expect(better === "lower" ? aim < required : aim > required, name).toBe(true);
  });

  it("compare medians", () => {
    const measured = new Measurements();
    for (const time of [300, 100, 200]) measured.add(series("ours", "opfs", "f32-64"), "milliseconds", time);
    for (const time of [100, 100, 900]) measured.add(series("floor", "opfs", "f32-64"), "milliseconds", time);
    expect(row("opfs-64").value(measured)).toBe(2);
  });

  it("of memory take the worst of all sets, in megabytes", () => {
    const measured = new Measurements();
    const { needs, value } = row("opfs-renderer");
    for (const [at, { series, quantity }] of needs.entries()) measured.add(series, quantity, at * 1e6);
    expect(value(measured)).toBe(needs.length - 1);
  });

  it("of the slow network divide by what the bandwidth allows", () => {
    const measured = new Measurements();
    for (const { series, quantity } of row("slow-network").needs) measured.add(series, quantity, 2100);
    expect(row("slow-network").value(measured)).toBeCloseTo(1.05);
  });

  it("without their measurements have no value", () => {
    const result = resultOf(row("opfs-64"), new Measurements());
    expect(result.value).toBeUndefined();
    expect(verdictOf(result)).toBe("not measured");
  });
});

describe("a verdict", () => {
  it.each([
    ["opfs-64", 1.8, "aim met"],
    ["opfs-64", 2.2, "met"],
    ["opfs-64", 2.21, "not met"],
    ["opfs-small", 150, "aim met"],
    ["opfs-small", 50, "met"],
    ["opfs-small", 49, "not met"],
  ])("of %s at %d is: %s", (name, value, verdict) => {
    expect(verdictOf({ row: row(name), value })).toBe(verdict);
  });
});
