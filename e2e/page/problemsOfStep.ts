import { type Checkpoint, type CheckpointDirectory, type GpuArray, type HostArray, OrbaxCheckpointStore, type PrngKey } from "orbax-webgpu";
import { narrowed } from "../../src/arrays/dtypes.js";
import { gpuBufferSize } from "../../src/gpu/limits.js";
import { readBack } from "../../src/gpu/readBack.js";
import { differences, type ExpectedLeaf, valueAt } from "../fixtures/expected.js";

/** What real substrax restores from a step, by item. */
export type ExpectedItems = Readonly<Record<string, readonly ExpectedLeaf[]>>;

/** `STORAGE | COPY_SRC | COPY_DST`, as the package's documents promise. */
const defaultUsage = 0x80 | 0x04 | 0x08;

/** Restores a step without templates onto a device, 64-bit arrays too, and looks for {@link problemsOf}. */
export async function problemsOfStep(
  directory: CheckpointDirectory,
  step: number,
  items: ExpectedItems,
  device: GPUDevice,
): Promise<string[]> {
  const checkpoint = await new OrbaxCheckpointStore(directory, { device, enableX64: true }).restore(step);
  const problems = await problemsOf(checkpoint, items, device);
  checkpoint.destroy();
  return problems;
}

/**
 * A line for each leaf that has other bytes than real substrax gave, stands elsewhere than it should, or in a buffer of another size,
 * usage, label or padding.
 */
export async function problemsOf(checkpoint: Checkpoint<object>, items: ExpectedItems, device: GPUDevice): Promise<string[]> {
  const restored = checkpoint.items as Readonly<Record<string, unknown>>;
  const names = Object.keys(restored).join() === Object.keys(items).join() ? [] : [`items ${Object.keys(restored)}`];
  const lines = await Promise.all(
    Object.entries(items).flatMap(([item, leaves]) => [
      differences(restored[item], leaves).then((found) => found.map((line) => `${item}: ${line}`)),
      ...leaves.map((leaf) => misplacements(valueAt(restored[item], leaf.path), item, leaf, device)),
    ]),
  );
  return [...names, ...lines.flat()].map((line) => `step ${checkpoint.step}: ${line}`);
}

/** A line for what is wrong with the place of one leaf's array; its label begins with the item. */
export async function misplacements(value: unknown, item: string, leaf: ExpectedLeaf, device: GPUDevice): Promise<string[]> {
  if (value === undefined || (leaf.kind !== "array" && leaf.kind !== "key")) return [];
  const array = leaf.kind === "key" ? (value as PrngKey<GpuArray>).data : (value as GpuArray | HostArray);
  const path = leaf.path.join("/");
  const label = [item, path].filter((part) => part !== "").join("/");
  const isWide = Object.hasOwn(narrowed, leaf.dtype ?? "");
  if (leaf.framework === "numpy" && isWide) return "buffer" in array ? [`${label}: numpy's 64 bits are on the device`] : [];
  if (!("buffer" in array)) return [`${label}: not on the device`];
  const { buffer, byteLength, shape, dtype } = array;
  const size = gpuBufferSize({ shape, dtype });
  const padding = (await readBack(device, buffer, size)).subarray(byteLength);
  return [
    ...(array.device === device ? [] : ["on another device"]),
    ...(buffer.label === label ? [] : [`label ${buffer.label}`]),
    ...(buffer.usage === defaultUsage ? [] : [`usage ${buffer.usage}`]),
    ...(buffer.size === size && size % 16 === 0 && size > 0 ? [] : [`${buffer.size} bytes, expected ${size}`]),
    ...(byteLength === leaf.byteLength ? [] : [`byteLength ${byteLength}, expected ${leaf.byteLength}`]),
    ...(padding.every((byte) => byte === 0) ? [] : ["padding that is not zero"]),
  ].map((problem) => `${label}: ${problem}`);
}
