import * as orbax from "orbax-webgpu";
import { budgetPeaks } from "./budgetPeaks.js";
import { gatherWords } from "./gatherWords.js";

/** What the page says of a restore that the test measures from outside. */
export interface MemoryReport {
  readonly milliseconds: number;
  /** Most bytes that each limiter of the restore held at once. */
  readonly peaks: readonly number[];
  /** Places where the GPU has another word than it should. */
  readonly wrongWords: number;
}

/** What the page tells the test. */
export type Moment =
  | { readonly kind: "loaded" }
  | { readonly kind: "done"; readonly report: MemoryReport }
  | { readonly kind: "failed"; readonly message: string };

/** By a request, whose answer comes when the test has done its part. */
const tell = (moment: Moment) => fetch(`/told/${encodeURIComponent(JSON.stringify(moment))}`);

const words = async (name: string) => new Uint32Array(await (await fetch(`/samples/${name}`)).arrayBuffer());

const source = new URL("/store/", location.href);
const { searchParams } = new URL(location.href);
const budget = Number(searchParams.get("budget"));
const mirror = searchParams.get("mirror");
const times = Number(searchParams.get("times") ?? 1);

/** Restores as often as is asked for, each time through a mirror of its own where there is one, and tells of the last time. */
async function measure(): Promise<MemoryReport> {
  await tell({ kind: "loaded" });
  const through = () => (mirror === null ? source : orbax.mirrored(source, mirror));
  const reports: MemoryReport[] = [];
  for (let time = 0; time < times; time++) reports.push(await restore(new orbax.OrbaxCheckpointStore(through())));
  const last = reports.at(-1);
  if (last === undefined) throw new Error("nothing was restored");
  return { ...last, wrongWords: reports.reduce((sum, { wrongWords }) => sum + wrongWords, 0) };
}

async function restore(store: orbax.CheckpointStore): Promise<MemoryReport> {
  const opened = await store.open(1);
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error("there is no WebGPU adapter");
  const device = await adapter.requestDevice({ requiredLimits: opened.requiredLimits() });
  const peaks = budgetPeaks(orbax);
  const start = performance.now();
  const checkpoint = await opened.restore({ device, readConcurrentBytes: budget });
  const milliseconds = performance.now() - start;
  const array = checkpoint.leaf("model", "w") as orbax.GpuArray;
  const [indices, expected] = [await words("indices"), await words("words")];
  const found = await gatherWords(device, array.buffer, indices);
  device.destroy();
  return { milliseconds, peaks: peaks(), wrongWords: found.filter((word, at) => word !== expected[at]).length };
}

await measure().then(
  (report) => tell({ kind: "done", report }),
  (error: unknown) => tell({ kind: "failed", message: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) }),
);
