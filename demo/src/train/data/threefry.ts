/** Data of a `threefry2x32` key, as JAX keeps it. */
export type Key = readonly [number, number];

const rotations = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;
const parity = 0x1bd11bda;

/** The block cipher behind JAX's default random numbers: Threefry-2x32 in 20 rounds (Salmon et al., 2011); all words are uint32. */
export function threefry2x32([first, second]: Key, counter: Key): Key {
  const schedule = [first, second, first ^ second ^ parity];
  const keyAt = (index: number) => schedule[index % 3] ?? 0;
  let left = (counter[0] + first) >>> 0;
  let right = (counter[1] + second) >>> 0;
  for (let group = 0; group < 5; group++) {
    for (const distance of rotations[group % 2] ?? []) {
      left = (left + right) >>> 0;
      right = (((right << distance) | (right >>> (32 - distance))) ^ left) >>> 0;
    }
    left = (left + keyAt(group + 1)) >>> 0;
    right = (right + keyAt(group + 2) + group + 1) >>> 0;
  }
  return [left, right];
}

/** `jax.random.key(seed)`, of a seed from 0 to 2^32 - 1. */
export const keyOf = (seed: number): Key => [0, seed >>> 0];

/** `jax.random.fold_in(key, data)`. */
export const foldIn = (key: Key, data: number): Key => threefry2x32(key, [0, data >>> 0]);

/** `jax.random.split(key)`. */
export const split = (key: Key): readonly [Key, Key] => [threefry2x32(key, [0, 0]), threefry2x32(key, [0, 1])];

/** `jax.random.bits(key, [count], "uint32")`. */
export const randomBits = (key: Key, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, index) => {
    const [left, right] = threefry2x32(key, [0, index]);
    return left ^ right;
  });
