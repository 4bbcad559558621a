import type { Measured, Quantity } from "../measurements.js";
import { contenderTitles, placeTitles, type Series, setTitles } from "../series.js";
import { withUnit } from "./table.js";

const width = 860;
const left = 230;
const right = 110;
const barHeight = 20;
const barGap = 6;
const titleLine = 32;
const groupHead = 44;
const top = 58;

const quantities: readonly Quantity[] = ["milliseconds", "coldMilliseconds"];

/** All times as an SVG picture: a bar for the median, a line from the least to the most; each group has its own scale. */
export function timesChart(all: readonly Measured[], subtitle: string): string {
  const groups = groupsOf(all.filter(({ quantity }) => quantities.includes(quantity)));
  const body: string[] = [];
  let y = top;
  for (const [title, measured] of groups) {
    body.push(text(24, y + titleLine, title, 'font-weight="600"'));
    y += groupHead;
    const longest = Math.max(...measured.map(({ summary }) => summary.most));
    for (const one of measured) {
      body.push(...bar(one, y, (width - left - right) / longest));
      y += barHeight + barGap;
    }
  }
  const head = [
    text(24, 34, "From the call to all bytes on the GPU, or saved", 'font-size="19" font-weight="700"'),
    text(24, 56, subtitle, 'font-size="11" fill="#667"'),
  ];
  return svg(y + 24, [...head, ...body]);
}

function groupsOf(all: readonly Measured[]): Map<string, Measured[]> {
  const groups = new Map<string, Measured[]>();
  for (const one of all) {
    const { place, set } = one.series;
    const title = `${placeTitles[place]}: ${setTitles[set]}${one.quantity === "coldMilliseconds" ? ", first after a page's load" : ""}`;
    groups.set(title, [...(groups.get(title) ?? []), one]);
  }
  return groups;
}

function bar({ series, quantity, summary: { median, least, most } }: Measured, y: number, scale: number): string[] {
  const [middle, from, to, end] = [y + barHeight / 2, left + least * scale, left + most * scale, left + median * scale];
  const colour = series.contender === "ours" ? "#0b6e4f" : "#a9b4c0";
  return [
    text(left - 10, middle + 4, labelOf(series), 'text-anchor="end"'),
    `<rect x="${left}" y="${y}" width="${round(end - left)}" height="${barHeight}" rx="2" fill="${colour}"/>`,
    `<path d="M${round(from)} ${middle}H${round(to)}M${round(from)} ${middle - 4}v8M${round(to)} ${middle - 4}v8" stroke="#334" fill="none"/>`,
    text(round(Math.max(end, to)) + 8, middle + 4, withUnit(median, quantity), ""),
  ];
}

const labelOf = ({ contender, isolation }: Series): string =>
  `${contenderTitles[contender]}${isolation === "plain" ? ", no COOP/COEP" : ""}`;

const round = (number: number): number => Math.round(number * 10) / 10;

const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;

const svg = (height: number, lines: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1c2530">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
