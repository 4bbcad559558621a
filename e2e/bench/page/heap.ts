import type { Outcome } from "./protocol.js";

// What Chromium tells a page of its memory.

interface MainHeap {
  /** Bytes of JavaScript objects and ArrayBuffers of the main thread. */
  readonly usedJSHeapSize: number;
}

interface AgentMemory {
  readonly breakdown: readonly { readonly bytes: number; readonly attribution: readonly { readonly scope: string }[] }[];
}

export type HeapUse = Required<Pick<Outcome, "heapBytes" | "workerHeapBytes">>;

interface MeasuredPerformance {
  readonly memory?: MainHeap;
  measureUserAgentSpecificMemory?(): Promise<AgentMemory>;
}

const measured = performance as unknown as MeasuredPerformance;

/**
 * Watches the heap until the returned function is called, which gives its growth in bytes: the main thread's peak, looked at every
 * 4 ms, and what the page's workers hold at the end, when their pools are as large as they became. ArrayBuffers count; wasm memories
 * are not told, and count in the growth of the renderer's process only.
 */
export function watchHeap(): () => Promise<HeapUse> {
  const used = () => {
    if (measured.memory === undefined) throw new Error("this browser does not tell the size of a page's heap");
    return measured.memory.usedJSHeapSize;
  };
  const base = used();
  let peak = base;
  const look = () => {
    peak = Math.max(peak, used());
  };
  const timer = setInterval(look, 1);
  return async () => {
    look();
    clearInterval(timer);
    const workerHeapBytes = await workerBytes();
    return { heapBytes: peak - base + workerHeapBytes, workerHeapBytes };
  };
}

async function workerBytes(): Promise<number> {
  if (measured.measureUserAgentSpecificMemory === undefined) throw new Error("only isolated pages are told what their workers hold");
  const { breakdown } = await measured.measureUserAgentSpecificMemory();
  return breakdown
    .filter(({ attribution }) => attribution.some(({ scope }) => scope === "DedicatedWorkerGlobalScope"))
    .reduce((sum, { bytes }) => sum + bytes, 0);
}
