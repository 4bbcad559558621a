import { StorageError } from "../errors.js";

/** What of the browser's storage manager is asked for; none of it is everywhere, whatever the types say. */
interface Manager {
  persist?(): Promise<boolean>;
  estimate?(): Promise<{ readonly quota?: number; readonly usage?: number }>;
}

const manager = (): Manager | undefined => (globalThis.navigator as { readonly storage?: Manager } | undefined)?.storage;

let persistence: Promise<boolean> | undefined;

/**
 * Asks the browser, once for this thread, to keep what the origin stores when disks get full. False where it does not, as workers cannot
 * ask for it and some browsers ask their user; what was stored is there all the same.
 */
export function requestPersistence(): Promise<boolean> {
  persistence ??= (async () => (await manager()?.persist?.()) ?? false)().catch(() => false);
  return persistence;
}

/**
 * Checks that the browser's estimate for this origin leaves room for so many bytes more; passes where it gives none.
 * @throws StorageError `"quota"` that names the bytes needed and those that are free.
 */
export async function requireRoom(byteLength: number, path = ""): Promise<void> {
  const free = await freeBytes();
  if (free !== undefined && free < byteLength) throw await noRoomError(path, byteLength);
}

/** The error for `byteLength` bytes, or an unknown number, for which there is no room. */
export async function noRoomError(path: string, byteLength: number | undefined, cause?: unknown): Promise<StorageError> {
  const free = await freeBytes();
  const needs = byteLength === undefined ? "" : `${textOf(byteLength)} more are needed; `;
  // Browsers tell pages a round number where they have less.
  const has = free === undefined || free >= (byteLength ?? 0) ? "" : `the browser estimates that ${textOf(free)} are free; `;
  return new StorageError({
    path,
    reason: "quota",
    message: `the browser has no room left for this page: ${needs}${has}remove old checkpoints, free space on the disk, or save elsewhere`,
    cause,
  });
}

/** Undefined where the browser does not tell. */
async function freeBytes(): Promise<number | undefined> {
  const { quota, usage } =
    (await manager()
      ?.estimate?.()
      .catch(() => undefined)) ?? {};
  return quota === undefined || usage === undefined ? undefined : Math.max(0, quota - usage);
}

const textOf = (byteLength: number) => `${byteLength.toLocaleString("en")} bytes`;
