/** Probabilities of logits: softmax, without overflow. */
export function probabilities(logits: Float32Array): number[] {
  const largest = Math.max(...logits);
  const powers = Array.from(logits, (logit) => Math.exp(logit - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

/** Index of the largest number, the first of equals, as NumPy's `argmax`. */
export const indexOfLargest = (values: ArrayLike<number>): number => Array.from(values).indexOf(Math.max(...Array.from(values)));
