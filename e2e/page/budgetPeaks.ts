/** What of the library's limiter is watched. */
interface Limiter {
  readonly limit: number;
  readonly used: number;
  readonly peak: number;
  tryAcquire(bytes: number): (() => void) | undefined;
  acquire(bytes: number, context?: object): Promise<() => void>;
}

/** Limit of what a web server was asked for and nobody has read: the browser holds it, beyond the budget of a restore. */
const unreadLimit = 32 * 1024 * 1024;

/**
 * Follows every limiter that takes bytes from now on. The package does not export it: the bundler of the test page adds this one
 * name to the built module (`vite.config.ts`).
 * @returns the most bytes that each limiter of a restore held at once.
 */
export function budgetPeaks(builtPackage: object): () => number[] {
  const { ByteBudget } = builtPackage as { readonly ByteBudget: { readonly prototype: Limiter } };
  const seen = new Set<Limiter>();
  const { tryAcquire, acquire } = ByteBudget.prototype;
  ByteBudget.prototype.tryAcquire = function (this: Limiter, bytes: number) {
    seen.add(this);
    return tryAcquire.call(this, bytes);
  };
  ByteBudget.prototype.acquire = function (this: Limiter, bytes: number, context?: object) {
    seen.add(this);
    return acquire.call(this, bytes, context);
  };
  return () => Array.from(seen).flatMap(({ limit, peak }) => (limit === unreadLimit ? [] : [peak]));
}
