const grouping = new Intl.NumberFormat("en-US");

/** A whole number with its thousands grouped. */
export const grouped = (value: number): string => grouping.format(value);

/** A share from 0 to 1 in per cent. */
export const percent = (share: number, digits = 1): string => `${(share * 100).toFixed(digits)}%`;

/** A number as a table shows it: at most four significant digits of a fraction. */
export const brief = (value: number | string): string =>
  typeof value === "string" || Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
