import type { CheckpointMetadata, OrbaxCheckpointStore, opfsStorage, ReadableStorage } from "orbax-webgpu";

/** A saved step as the list shows it. */
export interface SavedStep {
  readonly step: number;
  /** Undefined where the step's record cannot be read. */
  readonly metadata: CheckpointMetadata | undefined;
  /** Bytes of its files. */
  readonly bytes: number;
}

/** The steps that there are, newest first, and the room that they take. */
export interface SavedSteps {
  readonly steps: readonly SavedStep[];
  readonly latest: number | undefined;
  /** The step with the lowest loss on the test images. */
  readonly best: number | undefined;
  /** Of everything that the browser keeps for this page's origin, in bytes; undefined where it does not tell. */
  readonly usage: number | undefined;
  /** Bytes that it would still keep. */
  readonly free: number | undefined;
}

/** Where a store's steps stand. */
export interface Place {
  readonly store: OrbaxCheckpointStore;
  readonly storage: ReturnType<typeof opfsStorage>;
}

/** Lists the steps with their records and sizes. */
export async function readSavedSteps({ store, storage }: Place, signal: AbortSignal): Promise<SavedSteps> {
  const numbers = await store.listSteps({ signal });
  const steps = await Promise.all(
    numbers.map(async (step) => ({
      step,
      metadata: await store.readMetadata(step, { signal }).catch(() => undefined),
      bytes: await bytesBelow(storage, `${step}/`),
    })),
  );
  const best = await store.bestStep("test_loss", { signal }).catch(() => null);
  const { usage, quota } = await roomLeft();
  return {
    steps: steps.reverse(),
    latest: numbers.at(-1),
    best: best ?? undefined,
    usage,
    free: usage === undefined || quota === undefined ? undefined : Math.max(0, quota - usage),
  };
}

async function bytesBelow(storage: ReadableStorage, prefix: string): Promise<number> {
  const { files, directories } = await storage.list(prefix);
  const sizes = [
    ...files.map((name) => bytesOf(storage, prefix + name)),
    ...directories.map((name) => bytesBelow(storage, `${prefix}${name}/`)),
  ];
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

async function bytesOf(storage: ReadableStorage, path: string): Promise<number> {
  if (storage.handle === undefined) return (await storage.read(path))?.byteLength ?? 0;
  return (await (await storage.handle(path))?.getFile())?.size ?? 0;
}

/** What the browser says of its storage; nothing where it does not. */
async function roomLeft(): Promise<StorageEstimate> {
  const { storage } = navigator as { readonly storage?: StorageManager };
  return (await storage?.estimate?.()) ?? {};
}
