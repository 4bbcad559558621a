const constructors = [
  "ArrayBuffer",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int8Array",
  "Uint16Array",
  "Int16Array",
  "Uint32Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
] as const;

/** What a piece of work allocated. */
export interface Allocations {
  /** Bytes of the largest buffer that a constructor was asked for, made or not. */
  readonly largest: number;
  /** By how many bytes the most memory that the process ever had grew. */
  readonly growth: number;
}

/** Watches the constructors of buffers, and the process's peak in memory, while work runs. */
export async function watchAllocations<Value>(work: () => Promise<Value>): Promise<Allocations & { readonly value: Value }> {
  let largest = 0;
  const originals = new Map<string, unknown>();
  for (const name of constructors) {
    const original = globalThis[name];
    originals.set(name, original);
    const width = "BYTES_PER_ELEMENT" in original ? original.BYTES_PER_ELEMENT : 1;
    const watching = new Proxy(original, {
      construct(target, args: [unknown, ...unknown[]]) {
        if (typeof args[0] === "number") largest = Math.max(largest, args[0] * width);
        return Reflect.construct(target, args, target);
      },
    });
    Object.defineProperty(globalThis, name, { value: watching, configurable: true, writable: true });
  }
  const before = process.resourceUsage().maxRSS;
  try {
    const value = await work();
    return { value, largest, growth: (process.resourceUsage().maxRSS - before) * 1024 };
  } finally {
    for (const [name, original] of originals)
      Object.defineProperty(globalThis, name, { value: original, configurable: true, writable: true });
  }
}
