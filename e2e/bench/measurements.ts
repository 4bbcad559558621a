import { median, type Summary, summarise } from "./report/statistics.js";
import { type Series, seriesName } from "./series.js";

/** What a repetition measures, each in its unit: milliseconds, bytes, requests. */
export type Quantity =
  | "milliseconds"
  | "coldMilliseconds"
  | "longestGap"
  | "heapBytes"
  | "workerHeapBytes"
  | "rendererGrowth"
  | "gpuGrowth"
  | "requests";

/** Something that was measured, or could not be. */
interface Entry {
  readonly series: Series;
  readonly quantity: Quantity;
  readonly values: number[];
  failure?: string;
}

/** A thing that was measured, with all its repetitions. */
export interface Measured {
  readonly series: Series;
  readonly quantity: Quantity;
  readonly summary: Summary;
}

/** Everything that was measured, by series and quantity. */
export class Measurements {
  readonly #entries = new Map<string, Entry>();

  add(series: Series, quantity: Quantity, value: number): void {
    this.#entry(series, quantity).values.push(value);
  }

  /** Notes that something could not be measured, and why. */
  fail(series: Series, quantity: Quantity, reason: string): void {
    this.#entry(series, quantity).failure = reason;
  }

  /** The median. @throws RangeError where nothing was measured, or not every time. */
  of(series: Series, quantity: Quantity): number {
    const { values, failure } = this.#entry(series, quantity);
    if (failure !== undefined) throw new RangeError(failure);
    return median(values);
  }

  /** All that was measured, in its order. */
  all(): Measured[] {
    return [...this.#entries.values()].flatMap(({ series, quantity, values }) =>
      values.length === 0 ? [] : [{ series, quantity, summary: summarise(values) }],
    );
  }

  /** What could not be measured, by name. */
  failures(): Record<string, string> {
    return Object.fromEntries([...this.#entries].flatMap(([name, { failure }]) => (failure === undefined ? [] : [[name, failure]])));
  }

  #entry(series: Series, quantity: Quantity): Entry {
    const name = measuredName({ series, quantity });
    const entry = this.#entries.get(name) ?? { series, quantity, values: [] };
    this.#entries.set(name, entry);
    return entry;
  }
}

/** Text that names something measured, such as `ours, opfs, f32-64: milliseconds`. */
export const measuredName = ({ series, quantity }: Pick<Measured, "series" | "quantity">): string => `${seriesName(series)}: ${quantity}`;
