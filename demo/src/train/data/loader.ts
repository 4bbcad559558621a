import { foldIn, keyOf, randomBits } from "./threefry.js";

/** Where the data loader stands: the members of the item `data_iterator` that it needs. */
export interface Loader {
  readonly epoch: number;
  /** Images of the epoch that were shown. */
  readonly position: number;
  readonly seed: number;
}

/** The images that come next, each by its index, and the loader after them; an epoch shows each of `count` images once. */
export function take(loader: Loader, count: number, wanted: number): { readonly chosen: readonly number[]; readonly loader: Loader } {
  const chosen: number[] = [];
  let { epoch, position } = loader;
  while (chosen.length < wanted) {
    const part = orderOf(loader.seed, epoch, count).subarray(position, position + wanted - chosen.length);
    chosen.push(...part);
    position += part.length;
    if (position >= count) {
      epoch += 1;
      position = 0;
    }
  }
  return { chosen, loader: { ...loader, epoch, position } };
}

/** The order in which an epoch shows the images: that of random numbers, which the seed and the epoch alone decide. */
function orderOf(seed: number, epoch: number, count: number): Uint32Array {
  const bits = randomBits(foldIn(keyOf(seed), epoch), count);
  return Uint32Array.from(bits.keys()).sort((a, b) => (bits[a] ?? 0) - (bits[b] ?? 0) || a - b);
}
