import { median, type Summary, summarise } from "./report/statistics.js";
import { type Series, seriesName } from "./series.js";

/** What a repetition measures, each in its unit: milliseconds, bytes, requests. */
export type Quantity = "milliseconds" | "coldMilliseconds" | "longestGap" | "heapBytes" | "rendererGrowth" | "gpuGrowth" | "requests";

/** Everything that was measured, by series and quantity. */
export class Measurements {
  readonly #values = new Map<string, number[]>();
  readonly #failures = new Map<string, string>();

  add(series: Series, quantity: Quantity, value: number): void {
    const key = keyOf(series, quantity);
    this.#values.set(key, [...(this.#values.get(key) ?? []), value]);
  }

  /** Notes that something could not be measured, and why. */
  fail(series: Series, quantity: Quantity, reason: string): void {
    this.#failures.set(keyOf(series, quantity), reason);
  }

  /** What could not be measured, by `series: quantity`. */
  get failures(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#failures);
  }

  /** The median. @throws RangeError where nothing was measured. */
  of(series: Series, quantity: Quantity): number {
    const values = this.#values.get(keyOf(series, quantity));
    if (values === undefined) throw new RangeError(`${keyOf(series, quantity)}: not measured`);
    return median(values);
  }

  /** Of all that was measured, by `series: quantity`. */
  summaries(): Record<string, Summary> {
    return Object.fromEntries([...this.#values].map(([key, values]) => [key, summarise(values)]));
  }
}

const keyOf = (series: Series, quantity: Quantity): string => `${seriesName(series)}: ${quantity}`;
