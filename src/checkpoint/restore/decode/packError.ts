import {
  CorruptCheckpointError,
  isCheckpointError,
  StorageError,
  type StorageErrorReason,
  UnsupportedCheckpointError,
} from "../../../errors.js";

/** An error as plain data: what crosses from a worker loses its class and its fields. */
export type PackedError =
  | {
      readonly kind: "Corrupt";
      readonly path: string;
      readonly offset?: number | undefined;
      readonly expected: string;
      readonly received: string;
      readonly advice: string;
    }
  | { readonly kind: "Storage"; readonly path: string; readonly reason: StorageErrorReason; readonly message: string }
  | { readonly kind: "Unsupported"; readonly message: string };

/** Packs whatever a job failed with. */
export function packError(error: unknown): PackedError {
  if (isCheckpointError(error, "Corrupt")) {
    const { path, offset, expected, received, advice } = error;
    return { kind: "Corrupt", path, offset, expected, received, advice };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isCheckpointError(error, "Storage")) {
    const { path, reason } = error;
    return { kind: "Storage", path, reason, message: withoutPlace(message, path) };
  }
  if (isCheckpointError(error, "Unsupported")) return { kind: "Unsupported", message };
  // What an allocation fails with is a RangeError.
  if (error instanceof RangeError)
    return { kind: "Storage", path: "", reason: "memory", message: `${message}; restore fewer leaves at once` };
  return { kind: "Storage", path: "", reason: "worker", message: `a worker failed unexpectedly (${String(error)}); try again` };
}

/** A StorageError puts its path before the text by itself. */
const withoutPlace = (message: string, path: string) => (message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message);

/** The error that was packed, or as near as it can be. */
export function unpackError(packed: PackedError): Error {
  switch (packed.kind) {
    case "Corrupt":
      return new CorruptCheckpointError(packed);
    case "Storage":
      return new StorageError(packed);
    case "Unsupported":
      return new UnsupportedCheckpointError(packed.message);
    default:
      return packed satisfies never;
  }
}
