/** What of the library's limiter is watched. */
interface Limiter {
  readonly limit: number;
  readonly used: number;
  readonly peak: number;
  acquire(bytes: number, ...rest: unknown[]): Promise<() => void>;
}

/**
 * Follows every limiter that takes bytes from now on. The package does not export it: the bundler of the test page adds this one
 * name to the built module (`vite.config.ts`).
 * @returns the most bytes that each held at once.
 */
export function budgetPeaks(builtPackage: object): () => number[] {
  const { ByteBudget } = builtPackage as { readonly ByteBudget: { readonly prototype: Limiter } };
  const seen = new Set<Limiter>();
  const { acquire } = ByteBudget.prototype;
  ByteBudget.prototype.acquire = function (this: Limiter, ...given: [bytes: number]) {
    seen.add(this);
    return acquire.apply(this, given);
  };
  return () => Array.from(seen, ({ peak }) => peak);
}
