import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { useDarkness } from "./useDarkness.js";

/** A line of a plot. */
export interface Line {
  /** A custom property of the page's style. */
  readonly colour: string;
  /** A value each step; null where there is none. */
  readonly values: readonly (number | null)[];
  readonly points: boolean;
}

interface PlotProps {
  readonly steps: readonly number[];
  readonly lines: readonly Line[];
  readonly label: string;
  /** Lowest value that is always shown. */
  readonly from?: number;
  format(value: number): string;
}

const height = 220;

/** Fewest steps that a plot is wide. */
const fewestSteps = 20;

/** Lines over steps, as wide as there is room. */
export function Plot({ steps, lines, label, from, format }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const isDark = useDarkness();
  const data = widened([steps, ...lines.map(({ values }) => values)]);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(optionsOf(element, lines, from, format), data, element);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      made.destroy();
    };
  }, [isDark]);

  useEffect(() => void plot.current?.setData(data), [steps, lines]);

  return <div class="plot" ref={place} role="img" aria-label={label} />;
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  from: number | undefined,
  format: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name);
  const axis = {
    stroke: colour("--muted"),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: (_, first, last) => [first, last] },
      y: { range: (_, lowest, highest) => rangeOf(lowest, highest, from) },
    },
    axes: [
      { ...axis, size: 32, space: 60 },
      { ...axis, size: 56, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ colour: name, points }) => ({
        stroke: colour(name),
        width: points ? 2 : 1,
        spanGaps: true,
        points: { show: points, size: 5, fill: colour(name) },
      })),
    ],
  };
}

/** The data, and after a few steps the room for more. */
function widened([steps = [], ...lines]: (readonly (number | null)[])[]): uPlot.AlignedData {
  const [first, last] = [steps[0] ?? 0, steps.at(-1) ?? 0];
  if (last - first >= fewestSteps) return [steps, ...lines] as uPlot.AlignedData;
  return [[...steps, first + fewestSteps], ...lines.map((values) => [...values, null])] as uPlot.AlignedData;
}

/** Room for the values, with some around them. */
function rangeOf(lowest: number | null, highest: number | null, from: number | undefined): [number, number] {
  const [low, high] = [lowest ?? 0, highest ?? 1];
  const room = Math.max((high - low) * 0.1, Math.abs(high) * 0.01, 0.01);
  return [from ?? low - room, high + room];
}
