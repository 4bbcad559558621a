import { isCheckpointError, type StorageErrorReason } from "../errors.js";
import type { ReadableStorage, StorageListing } from "./storage.js";

// The checks of the conformance cases: a page that runs them has no test runner.

/** Throws where two plain values differ. */
export function same(received: unknown, expected: unknown, what = "the answer"): void {
  const [text, wanted] = [textOf(received), textOf(expected)];
  if (text !== wanted) throw new Error(`${what} is ${text}, expected ${wanted}`);
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? String(value);

/** Throws where bytes differ. */
export function sameBytes(received: Uint8Array | undefined, expected: Uint8Array | undefined, what: string): void {
  if (received === undefined || expected === undefined)
    throw new Error(`${what}: ${received ?? "nothing"}, expected ${expected ?? "nothing"}`);
  same(received.byteLength, expected.byteLength, `${what}: the length`);
  const at = received.findIndex((byte, index) => byte !== expected[index]);
  if (at >= 0) throw new Error(`${what}: byte ${at} is ${received[at]}, expected ${expected[at]}`);
}

/** What a promise rejects with; throws where it does not. */
export async function rejection(work: Promise<unknown>, what: string): Promise<unknown> {
  const value = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in value) return value.error;
  throw new Error(`${what} was not refused: ${textOf(value.value)?.slice(0, 100)}`);
}

/** Throws unless a call is refused as a wrong argument. */
export async function refusesArgument(work: Promise<unknown>, what: string): Promise<void> {
  const error = await rejection(work, what);
  if (!isCheckpointError(error, "Value")) throw new Error(`${what} was refused with ${error}, expected CheckpointValueError`);
}

/** Throws unless a call is refused since a file is shorter than the range; gives the path that the error names. */
export async function refusesLength(work: Promise<unknown>, what: string): Promise<string> {
  const error = await rejection(work, what);
  if (isCheckpointError(error, "Storage") && error.reason === "length") return error.path;
  throw new Error(`${what} was refused with ${error}, expected StorageError "length"`);
}

/** Throws unless a call is refused with a StorageError of this reason. */
export async function refusesStorage(work: Promise<unknown>, reason: StorageErrorReason, what: string): Promise<void> {
  const error = await rejection(work, what);
  if (isCheckpointError(error, "Storage") && error.reason === reason) return;
  throw new Error(`${what} was refused with ${error}, expected StorageError "${reason}"`);
}

/** Throws unless a promise rejects with this very reason. */
export async function rejectsWith(work: Promise<unknown>, reason: unknown, what: string): Promise<void> {
  const error = await rejection(work, what);
  if (error !== reason) throw new Error(`${what} was refused with ${error}, expected ${reason}`);
}

/** Throws unless a storage lists this below a prefix; the order is the storage's. */
export async function listsAs(storage: ReadableStorage, prefix: string, expected: StorageListing): Promise<void> {
  const sorted = ({ files, directories }: StorageListing) => ({ files: [...files].sort(), directories: [...directories].sort() });
  same(sorted(await storage.list(prefix)), sorted(expected), `the list of ${prefix}`);
}
