import { type LabelledImages, parseImages } from "./images.js";

/** Fetches the bundled training images. @throws Error with the URL and the status where the server does not have them. */
export async function fetchImages(url: URL, signal: AbortSignal): Promise<LabelledImages> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url.href}: the server answered ${response.status}; the training images should lie there`);
  return parseImages(await response.json());
}
