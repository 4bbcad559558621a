import type { SaveableItems } from "orbax-webgpu";

/** What a seed stands for, so that a restore can be compared without anything being kept. */
export interface Seeded {
  readonly seed: number;
  /** Bytes of all large arrays together. */
  readonly bytes: number;
}

/** Items whose values, and how many arrays they are, follow from the seed: two saves have different files and no word in common. */
export function seededItems({ seed, bytes }: Seeded) {
  const count = 6 + (seed % 5);
  const parts = Array.from({ length: count }, (_, part) => seededWords(seed, part, Math.floor(bytes / 4 / count)));
  return { model: { parts, name: `seed ${seed}` }, rng: { impl: "threefry2x32", data: Uint32Array.of(0, seed) } } satisfies SaveableItems;
}

/** First what is different in restored items, as text; undefined where all is right. */
export function problemOfSeeded(items: unknown, seeded: Seeded): string | undefined {
  const { model, rng } = items as {
    readonly model?: { readonly parts?: readonly { readonly data: Uint32Array }[]; readonly name?: string };
    readonly rng?: { readonly impl?: string; readonly data?: { readonly data: Uint32Array } };
  };
  const expected = seededItems(seeded);
  if (model?.name !== expected.model.name) return `name ${model?.name}`;
  if (rng?.impl !== expected.rng.impl || rng.data?.data.join() !== expected.rng.data.join()) return "another key";
  if (model.parts?.length !== expected.model.parts.length) return `${model.parts?.length} parts`;
  const wrong = expected.model.parts.findIndex((words, part) => !sameWords(words, model.parts?.[part]?.data ?? new Uint32Array()));
  return wrong < 0 ? undefined : `part ${wrong} has other values`;
}

function seededWords(seed: number, part: number, length: number): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(length);
  let word = (Math.imul(seed + 1, 0x9e3779b1) + Math.imul(part, 0x85ebca6b)) | 0;
  for (let index = 0; index < length; index++) {
    words[index] = word;
    word = (word + 0x6d2b79f5) | 0;
  }
  return words;
}

function sameWords(first: Uint32Array, second: Uint32Array): boolean {
  if (first.length !== second.length) return false;
  for (let index = 0; index < first.length; index++) if (first[index] !== second[index]) return false;
  return true;
}
