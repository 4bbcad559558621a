import type { Checkpoint, GpuArray, HostArray, LeafInfo, PrngKey, RestoredTree } from "orbax-webgpu";

/** A restored leaf, and the values that it begins with. */
export interface RestoredLeaf extends LeafInfo {
  /** Where it stands now. */
  readonly place: "GPU" | "memory";
  readonly first: string | readonly (number | string)[];
}

const shownValues = 4;

/** Reads the first values of every leaf back from where the restore put it. */
export const leafValues = (
  checkpoint: Pick<Checkpoint, "leaf">,
  leaves: readonly LeafInfo[],
  signal: AbortSignal,
): Promise<RestoredLeaf[]> =>
  Promise.all(
    leaves.map(async (leaf) => {
      const [item = "", ...path] = leaf.path.split("/");
      return { ...leaf, ...(await describe(checkpoint.leaf(item, path.join("/")), signal)) };
    }),
  );

async function describe(
  value: RestoredTree | HostArray | GpuArray | undefined,
  signal: AbortSignal,
): Promise<Pick<RestoredLeaf, "place" | "first">> {
  if (isKey(value)) {
    const { place, first } = await describe(value.data, signal);
    return { place, first: `${value.impl} ${typeof first === "string" ? first : first.join(", ")}` };
  }
  if (isGpuArray(value)) return { place: "GPU", first: firstOf(await value.read({ signal })) };
  if (isHostArray(value)) return { place: "memory", first: firstOf(value) };
  return { place: "memory", first: typeof value === "number" ? [value] : textOf(value) };
}

/** Floats below 32 bits are kept as their bits, so they are widened to be shown. */
function firstOf(array: HostArray): (number | string)[] {
  const values: ArrayLike<number | bigint> = /float(?:16|8|4)/.test(array.dtype) ? array.toFloat32() : array.data;
  return Array.from(values)
    .slice(0, shownValues)
    .map((value) => (typeof value === "bigint" ? String(value) : value));
}

const textOf = (value: unknown) => (typeof value === "string" ? JSON.stringify(value) : String(value));

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isKey = (value: unknown): value is PrngKey<HostArray | GpuArray> => isObject(value) && "impl" in value;
const isGpuArray = (value: unknown): value is GpuArray => isObject(value) && "buffer" in value && "device" in value;
const isHostArray = (value: unknown): value is HostArray => isObject(value) && "data" in value;
