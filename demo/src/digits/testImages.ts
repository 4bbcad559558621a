/** What Flax answered in Python, on the same images, with the weights of one step. */
export interface FlaxAnswers {
  readonly correct: number;
  /** The predicted digit of each image. */
  readonly predictions: readonly number[];
}

/** The bundled test images. */
export interface TestImages {
  /** 64 pixels each, row by row, from 0 to 16. */
  readonly images: readonly Uint8Array<ArrayBuffer>[];
  /** The digit that each image shows. */
  readonly labels: readonly number[];
  readonly flax: ReadonlyMap<number, FlaxAnswers>;
}

/** The file as `e2e/fixtures/digits.py` writes it. */
interface TestImagesFile {
  readonly count: number;
  readonly shape: readonly [number, number];
  readonly images: string;
  readonly labels: string;
  readonly steps: Readonly<Record<string, { readonly correct: number; readonly predictions: string }>>;
}

/** Fetches the test images. @throws Error with the URL and the status where the server does not have them. */
export async function fetchTestImages(url: URL, signal: AbortSignal): Promise<TestImages> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url.href}: the server answered ${response.status}; the test images should lie there`);
  const file: TestImagesFile = await response.json();
  const pixels = Uint8Array.from(atob(file.images), (character) => character.charCodeAt(0));
  const size = file.shape[0] * file.shape[1];
  return {
    images: Array.from({ length: file.count }, (_, index) => pixels.subarray(index * size, (index + 1) * size)),
    labels: digitsOf(file.labels),
    flax: new Map(
      Object.entries(file.steps).map(([step, { correct, predictions }]) => [Number(step), { correct, predictions: digitsOf(predictions) }]),
    ),
  };
}

const digitsOf = (text: string) => Array.from(text, Number);
