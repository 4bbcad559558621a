/** What a restore asked of the server. */
export interface Traffic {
  readonly requests: number;
  /** Bytes of all answers' bodies. */
  readonly bytes: number;
}

/** Forgets earlier requests, of which a browser keeps only so many. */
export const forgetTraffic = (): void => performance.clearResourceTimings();

/** Counts the requests for files below a URL, by the browser's own records. */
export function trafficBelow(url: URL): Traffic {
  const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
  const below = entries.filter(({ name }) => name.startsWith(url.href));
  return { requests: below.length, bytes: below.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
}
