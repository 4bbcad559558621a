const units = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** A number of bytes as people read it: decimal units, three digits. */
export function bytesText(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toPrecision(2)} ${units[power]}`;
}
