const grouping = new Intl.NumberFormat("en-US");

/** A whole number with its thousands grouped. */
export const grouped = (value: number): string => grouping.format(value);

/** A share from 0 to 1 in per cent; what is only nearly certain is not called 100%. */
export function percent(share: number, digits = 1): string {
  const text = (share * 100).toFixed(digits);
  return share < 1 && Number(text) === 100 ? `>${(100 - 10 ** -digits).toFixed(digits)}%` : `${text}%`;
}

/** A number as a table shows it: at most four significant digits of a fraction. */
export const brief = (value: number | string): string =>
  typeof value === "string" || Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
