import type { HostArray } from "./hostArray.js";

/** A typed JAX PRNG key, or an array of them: the key data as `uint32`, in memory or on a GPU, and what makes numbers of it. */
export interface PrngKey<Data = HostArray<"uint32">> {
  /** JAX's name of the generator, such as `"threefry2x32"` (key data `[..., 2]`) or `"rbg"` (`[..., 4]`). */
  readonly impl: string;
  readonly data: Data;
}
