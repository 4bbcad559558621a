import type { Measurements, Quantity } from "./measurements.js";
import type { Place, SetName } from "./page/protocol.js";
import { type Series, series } from "./series.js";

/** Something to measure. */
export interface Need {
  readonly series: Series;
  readonly quantity: Quantity;
}

/** A line of the bench's table: a number, made of medians, and what it has to be. */
export interface Row {
  /** By which `--only` and the JSON file know it. */
  readonly name: string;
  readonly title: string;
  readonly better: "lower" | "higher";
  readonly required: number;
  readonly aim: number;
  readonly unit: "×" | "MB" | "ms" | "requests";
  readonly needs: readonly Need[];
  value(measured: Measurements): number;
}

type Goal = Pick<Row, "required" | "aim" | "better">;

const atMost = (required: number, aim: number): Goal => ({ better: "lower", required, aim });
const atLeast = (required: number, aim: number): Goal => ({ better: "higher", required, aim });

/** How many times as much of a quantity one series needs as another. */
function ratio(name: string, title: string, over: Series, under: Series, goal: Goal, quantity: Quantity = "milliseconds"): Row {
  const needs = [over, under].map((series) => ({ series, quantity }));
  return { name, title, ...goal, unit: "×", needs, value: (measured) => measured.of(over, quantity) / measured.of(under, quantity) };
}

/** The most of a quantity that any of some series needs. */
function most(name: string, title: string, all: readonly Series[], quantity: Quantity, unit: Row["unit"], goal: Goal): Row {
  const scale = unit === "MB" ? 1e6 : 1;
  const needs = all.map((series) => ({ series, quantity }));
  return { name, title, ...goal, unit, needs, value: (measured) => Math.max(...all.map((one) => measured.of(one, quantity))) / scale };
}

const oneFrames: readonly SetName[] = ["64m-one-frame", "f32-one-frame", "1g-one-frame"];
const manyFrames: readonly SetName[] = ["64m-chunks", "f32-chunks", "f32-64", "1g-chunks"];
const ours = (place: Place, sets: readonly SetName[]) => sets.map((set) => series("ours", place, set));
const opfs64 = series("ours", "opfs", "f32-64");
const http64 = series("ours", "http", "f32-64");

/** Every row, in the order of the table. @param facts Of the data, and of the slow network. */
export function rowsOf(facts: { readonly bytesOnSlowNetwork: (set: SetName) => number; readonly bytesPerSecond: number }): Row[] {
  const slowSets: readonly SetName[] = ["f32-one-frame", "f32-64"];
  const slowest = (measured: Measurements) =>
    slowSets.map((set) => {
      const best = (facts.bytesOnSlowNetwork(set) / facts.bytesPerSecond) * 1000;
      return measured.of(series("ours", "slow", set), "milliseconds") / best;
    });
  return [
    ratio("opfs-64", "OPFS, 64 arrays / raw floor", opfs64, series("floor", "opfs", "f32-64"), atMost(2.2, 1.8)),
    ratio(
      "opfs-one-frame",
      "OPFS, one frame of 256 MiB / raw floor",
      series("ours", "opfs", "f32-one-frame"),
      series("floor", "opfs", "f32-one-frame"),
      atMost(3.6, 2.1),
    ),
    ratio(
      "http-one-frame",
      "HTTP, one frame of 256 MiB / HTTP raw floor",
      series("ours", "http", "f32-one-frame"),
      series("floor", "http", "f32-one-frame"),
      atMost(2.2, 1.6),
    ),
    ratio("opfs-64-naive", "OPFS, 64 arrays / naive", opfs64, series("naive", "opfs", "f32-64"), atMost(1, 0.75)),
    ratio("opfs-zarrita", "OPFS, 64 arrays: zarrita one by one / ours", series("zarrita", "opfs", "f32-64"), opfs64, atLeast(5, 6.5)),
    ratio("http-zarrita", "HTTP, 64 arrays: zarrita one by one / ours", series("zarrita", "http", "f32-64"), http64, atLeast(3.5, 4.5)),
    ratio("http-64", "HTTP, 64 arrays / HTTP raw floor", http64, series("floor", "http", "f32-64"), atMost(1.8, 1.5)),
    ratio("http-64-naive", "HTTP, 64 arrays / naive", http64, series("naive", "http", "f32-64"), atMost(1, 0.85)),
    ratio(
      "opfs-small",
      "OPFS, 2,048 × 16 KiB: zarrita / ours",
      series("zarrita", "opfs", "small"),
      series("ours", "opfs", "small"),
      atLeast(50, 150),
    ),
    ratio(
      "http-small",
      "HTTP, 2,048 × 16 KiB: zarrita / ours",
      series("zarrita", "http", "small"),
      series("ours", "http", "small"),
      atLeast(30, 80),
    ),
    ratio(
      "minilm-time",
      "HTTP, MiniLM: safetensors today / ours, time",
      series("safetensors", "http", "minilm"),
      series("ours", "http", "minilm"),
      atLeast(1, 1.25),
    ),
    ratio(
      "minilm-heap",
      "HTTP, MiniLM: safetensors today / ours, peak heap",
      series("safetensors", "http", "minilm"),
      series("ours", "http", "minilm"),
      atLeast(5, 8),
      "heapBytes",
    ),
    ratio(
      "opfs-not-isolated",
      "OPFS, 64 arrays: without COOP/COEP / with",
      series("ours", "opfs", "f32-64", "plain"),
      opfs64,
      atMost(1.15, 1.07),
    ),
    ratio(
      "http-not-isolated",
      "HTTP, 64 arrays: without COOP/COEP / with",
      series("ours", "http", "f32-64", "plain"),
      http64,
      atMost(1.15, 1.07),
    ),
    most("opfs-renderer", "OPFS, renderer's growth", ours("opfs", [...oneFrames, ...manyFrames]), "rendererGrowth", "MB", atMost(96, 64)),
    most("http-renderer", "HTTP, renderer's growth", ours("http", [...oneFrames, ...manyFrames]), "rendererGrowth", "MB", atMost(96, 64)),
    most(
      "gpu-serial",
      "GPU process beyond the tensors, one frame read serially",
      ours("http", oneFrames),
      "gpuGrowth",
      "MB",
      atMost(48, 24),
    ),
    most(
      "gpu-rest",
      "GPU process beyond the tensors, all else",
      [...ours("opfs", [...oneFrames, ...manyFrames]), ...ours("http", manyFrames)],
      "gpuGrowth",
      "MB",
      atMost(80, 48),
    ),
    most(
      "requests",
      "requests for a contiguous 256 MiB data file",
      ours("http", ["f32-one-frame", "f32-chunks", "f32-64"]),
      "requests",
      "requests",
      atMost(16, 4),
    ),
    {
      name: "slow-network",
      title: "slow network: restore / (bytes ÷ bandwidth)",
      ...atMost(1.15, 1.05),
      unit: "×",
      needs: slowSets.map((set) => ({ series: series("ours", "slow", set), quantity: "milliseconds" as const })),
      value: (measured) => Math.max(...slowest(measured)),
    },
    most(
      "opfs-block",
      "OPFS, longest block of the main thread",
      ours("opfs", ["f32-64", "f32-one-frame", "small"]),
      "longestGap",
      "ms",
      atMost(50, 16),
    ),
    most(
      "http-block",
      "HTTP, longest block of the main thread",
      ours("http", ["f32-64", "f32-one-frame", "small", "minilm"]),
      "longestGap",
      "ms",
      atMost(50, 16),
    ),
    ratio(
      "save-opfs",
      "save of 256 MiB into OPFS / raw floor",
      series("ours", "opfs", "save-256m"),
      series("floor", "opfs", "save-256m"),
      atMost(2.5, 1.5),
    ),
    most(
      "save-renderer",
      "save of 512 MiB into OPFS, renderer's growth",
      ours("opfs", ["save-512m", "save-512m-array"]),
      "rendererGrowth",
      "MB",
      atMost(96, 64),
    ),
  ];
}

const measuring = (quantity: Quantity, ...all: readonly Series[]): Need[] => all.map((series) => ({ series, quantity }));

/** A restore without a mirror, through one that fills meanwhile, and through one that has all, by turns. */
export const mirrors: readonly Need[] = (["64m-one-frame", "64m-chunks"] as const).flatMap((set) =>
  measuring("milliseconds", ...(["ours", "mirror-first", "mirror-second"] as const).map((contender) => series(contender, "http", set))),
);

/** What is measured for the reader only: other contenders, other sets, and a model's load as the operating system sees it. */
export const extras: readonly Need[] = [
  ...measuring(
    "milliseconds",
    series("ours", "opfs", "f32-chunks"),
    series("zarrita-together", "opfs", "f32-chunks"),
    series("ours", "opfs", "bf16-one-frame"),
    series("floor", "opfs", "bf16-one-frame"),
    series("zarrita-together", "opfs", "f32-64"),
    series("zarrita-together", "http", "f32-64"),
  ),
  ...mirrors,
  ...measuring("rendererGrowth", series("ours", "http", "minilm"), series("safetensors", "http", "minilm")),
];

/** First restores after a page's load. */
export const coldStarts: readonly Need[] = measuring(
  "coldMilliseconds",
  opfs64,
  http64,
  series("ours", "http", "minilm"),
  series("safetensors", "http", "minilm"),
);
