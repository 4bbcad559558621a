import { isCheckpointError } from "orbax-webgpu";

/** What came of work: its value, or its error as text, with the reason and the file of a StorageError. */
export async function outcomeOf(work: Promise<unknown> | undefined): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    return isCheckpointError(error, "Storage") ? `${error.name} ${error.reason} ${error.path}` : String(error);
  }
}

/** The different bytes that pieces hold; `afterFirst` is done after the first one. */
export async function fillsOf(
  pieces: AsyncIterable<Uint8Array> | undefined,
  afterFirst: () => Promise<unknown> = async () => undefined,
): Promise<number[]> {
  const seen = new Set<number>();
  let done = false;
  for await (const piece of pieces ?? []) {
    for (const byte of piece) seen.add(byte);
    if (!done) await afterFirst();
    done = true;
  }
  return [...seen];
}
