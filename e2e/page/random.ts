/** A repeatable source of random numbers. */
export interface Random {
  /** Integer of at least `low` and at most `high`. */
  integer(low: number, high: number): number;
  pick<Value>(values: readonly Value[]): Value;
  shuffle<Value>(values: Value[]): Value[];
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/** Mulberry32: small, fast and the same on every engine. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const integer = (low: number, high: number) => low + (next() % (high - low + 1));
  return {
    integer,
    pick: (values) => values[integer(0, values.length - 1)] as (typeof values)[number],
    shuffle: (values) => {
      for (let index = values.length - 1; index > 0; index--) {
        const other = integer(0, index);
        [values[index], values[other]] = [values[other] as (typeof values)[number], values[index] as (typeof values)[number]];
      }
      return values;
    },
    bytes: (length) => {
      const words = new Uint32Array(Math.ceil(length / 4));
      for (let index = 0; index < words.length; index++) words[index] = next();
      return new Uint8Array(words.buffer, 0, length);
    },
  };
}
