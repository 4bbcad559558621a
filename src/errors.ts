/** One place where an array's dtype in the checkpoint differs from the one asked for. */
export interface DtypeMismatch {
  /** Item of the checkpoint, such as `"model"`. */
  readonly item: string;
  /** Keys below the item joined with `/`; `""` for a bare array. */
  readonly leaf: string;
  /** Dtype in the checkpoint, by its JAX name. */
  readonly saved: string;
  /** Dtype that the restore would have given, by its JAX name. */
  readonly restored: string;
}

/** One leaf whose shape, kind or presence differs from the template. */
export interface TreeMismatch {
  readonly item: string;
  /** Keys below the item joined with `/`; `""` for a bare leaf. */
  readonly leaf: string;
  /** `"missing"`: only in the template; `"unexpected"`: only in the checkpoint. */
  readonly problem: "missing" | "unexpected" | "shape" | "kind";
  readonly expected: string;
  readonly received: string;
}

/** One problem of a record, with the path of the member that has it. */
export interface ValidationIssue {
  readonly path: readonly PropertyKey[];
  readonly code: string;
  readonly message: string;
}

/** The classes below by the word between `Checkpoint` and `Error`, for {@link isCheckpointError}. */
export interface CheckpointErrors {
  Value: CheckpointValueError;
  TreeMismatch: CheckpointTreeMismatchError;
  NotFound: CheckpointNotFoundError;
  NotWritten: CheckpointNotWrittenError;
  DtypeMismatch: CheckpointDtypeMismatchError;
  Unsupported: UnsupportedCheckpointError;
  Validation: CheckpointValidationError;
  Corrupt: CorruptCheckpointError;
  Storage: StorageError;
  Device: DeviceError;
}

/** Which of the package's errors an error is. */
export type CheckpointErrorKind = keyof CheckpointErrors;

// A registered symbol, so that two copies of the package in one page recognise each other's errors.
const kindsKey: unique symbol = Symbol.for("orbax-webgpu.errorKinds") as never;

/** The kinds that an error is of, its own one first. */
type Kinds = readonly [CheckpointErrorKind, ...CheckpointErrorKind[]];

// Spelled out, because bundlers shorten the names of classes.
const names: Readonly<Record<CheckpointErrorKind, string>> = {
  Value: "CheckpointValueError",
  TreeMismatch: "CheckpointTreeMismatchError",
  NotFound: "CheckpointNotFoundError",
  NotWritten: "CheckpointNotWrittenError",
  DtypeMismatch: "CheckpointDtypeMismatchError",
  Unsupported: "UnsupportedCheckpointError",
  Validation: "CheckpointValidationError",
  Corrupt: "CorruptCheckpointError",
  Storage: "StorageError",
  Device: "DeviceError",
};

abstract class CheckpointError extends Error {
  readonly [kindsKey]: Kinds;

  constructor(kinds: Kinds, message: string, options?: ErrorOptions) {
    super(cut(message, 10_000), options);
    this[kindsKey] = kinds;
    this.name = names[kinds[0]];
  }
}

/** A bad argument: a negative step, an unknown item, a bad mode, a malformed template (Python's `ValueError`). */
export class CheckpointValueError extends CheckpointError {
  constructor(message: string, options?: ErrorOptions, kinds: Kinds = ["Value"]) {
    super(kinds, message, options);
  }
}

/** The template's tree differs from the stored one; lists every difference of every item. */
export class CheckpointTreeMismatchError extends CheckpointValueError {
  readonly mismatches: readonly TreeMismatch[];

  constructor(step: number | undefined, mismatches: readonly TreeMismatch[]) {
    const lines = mismatches.map(
      ({ item, leaf, problem, expected, received }) =>
        `${placeOf(item, leaf, "the tree")}: ${problem}; the template has ${expected}, the checkpoint ${received}`,
    );
    // Of a tree of which nothing is left nothing can be skipped, and other shapes and kinds stay errors.
    const maySkip = mismatches.some(({ leaf, problem }) => leaf !== "" && (problem === "missing" || problem === "unexpected"));
    const skip = maySkip ? ', or pass missing: "skip" for leaves that only one of them has' : "";
    super(
      `${subjectOf(step)} does not match the template (${listed(lines)}); change the template, or use null in it to skip a leaf${skip}`,
      undefined,
      ["TreeMismatch", "Value"],
    );
    this.mismatches = mismatches;
  }
}

/** There is no such step, or nothing at all. */
export class CheckpointNotFoundError extends CheckpointError {
  /** Undefined where none was asked for. */
  readonly step: number | undefined;
  readonly directory: string;

  constructor(step: number | undefined, directory: string, options: ErrorOptions & { readonly advice?: string } = {}) {
    const { advice = "listSteps() names the steps there are", ...rest } = options;
    super(["NotFound"], `no checkpoint ${step === undefined ? "" : `at step ${step} `}under ${directory}; ${advice}`, rest);
    this.step = step;
    this.directory = directory;
  }
}

/** A save was declined; what was there before is unchanged. */
export class CheckpointNotWrittenError extends CheckpointError {
  readonly step: number;
  readonly latestStep: number | null;
  readonly reason: "exists" | "below_latest" | "rejected";

  constructor(step: number, latestStep: number | null, reason: "exists" | "below_latest" | "rejected", options?: ErrorOptions) {
    super(
      ["NotWritten"],
      `step ${step} was not written (${notWrittenReasons[reason]}; the latest step is ${latestStep ?? "none"})`,
      options,
    );
    this.step = step;
    this.latestStep = latestStep;
    this.reason = reason;
  }
}

const notWrittenReasons = {
  exists: "the step exists; pass overwrite: true to replace it",
  below_latest: "it lies below the latest step; save a higher step",
  rejected: "the storage refused it, see cause",
} as const;

/** Arrays would come back at another dtype than they were saved with; thrown before any chunk is requested. */
export class CheckpointDtypeMismatchError extends CheckpointError {
  readonly step: number | undefined;
  readonly mismatches: readonly DtypeMismatch[];
  /** True when a 64-bit array was bound for a device without `enableX64`. */
  readonly x64Disabled: boolean;

  /** @param kind `"no-cast"`: casts were accepted, but these pairs have none. */
  constructor(
    step: number | undefined,
    mismatches: readonly DtypeMismatch[],
    x64Disabled: boolean,
    kind: "not-asked-for" | "no-cast" = "not-asked-for",
  ) {
    const lines = mismatches.map(({ item, leaf, saved, restored }) => `${placeOf(item, leaf)}: saved ${saved}, restored as ${restored}`);
    const x64 = x64Disabled ? ", or enableX64: true to keep 64-bit values in buffers (WGSL has no 64-bit scalar)" : "";
    super(
      ["DtypeMismatch"],
      kind === "no-cast"
        ? `${subjectOf(step)} has arrays for which no cast to the wanted dtype is known (${listed(lines)}); use the saved dtype in the template`
        : `${subjectOf(step)} would restore arrays at another dtype than they were saved with (${listed(lines)}); pass castDtypes: true to accept the cast${x64}`,
    );
    this.step = step;
    this.mismatches = mismatches;
    this.x64Disabled = x64Disabled;
  }
}

/** A checkpoint of another format, version or producer than this package reads. */
export class UnsupportedCheckpointError extends CheckpointError {
  constructor(message: string, options?: ErrorOptions) {
    super(["Unsupported"], message, options);
  }
}

/** A record with members of the wrong type; lists all of them. */
export class CheckpointValidationError extends CheckpointError {
  readonly issues: readonly ValidationIssue[];

  constructor(what: string, issues: readonly ValidationIssue[], options?: ErrorOptions) {
    const lines = issues.map(({ path, message }) => `${path.length === 0 ? "the value" : path.map(String).join(".")}: ${message}`);
    super(["Validation"], `${what} is not valid (${listed(lines)}); it was written by something else, or damaged`, options);
    this.issues = issues;
  }
}

/** Where damage was found, and what stood there instead. */
export interface Corruption {
  /** File inside the storage. */
  readonly path: string;
  /** Byte offset inside the file, where known. */
  readonly offset?: number | undefined;
  readonly expected: string;
  readonly received: string;
  /** What to do, where copying the checkpoint again is not it. */
  readonly advice?: string | undefined;
  readonly cause?: unknown;
}

/** Bytes that break the format: a wrong checksum, a short file, a lost chunk. */
export class CorruptCheckpointError extends CheckpointError {
  readonly path: string;
  readonly offset: number | undefined;
  readonly expected: string;
  readonly received: string;
  readonly advice: string;

  constructor({ path, offset, expected, received, advice = copyAgain, cause }: Corruption) {
    const at = offset === undefined ? "" : ` at byte ${offset}`;
    super(
      ["Corrupt"],
      `${cut(path)}${at}: expected ${cut(expected)}, received ${cut(received)}; ${advice}`,
      cause === undefined ? undefined : { cause },
    );
    this.path = path;
    this.offset = offset;
    this.expected = expected;
    this.received = received;
    this.advice = advice;
  }
}

const copyAgain = "the file is damaged or incomplete: copy the checkpoint again, dot-files and folders included";

/** Why a storage could not do what it was asked; {@link StorageError}'s message says what to do. */
export type StorageErrorReason =
  | "network" // no answer, or the connection was cut, after all retries
  | "status" // an HTTP status that is no answer: 401, 403, 429, 5xx
  | "not-a-checkpoint" // an HTML page, a Git LFS pointer, an XML or JSON error instead of the file
  | "length" // more or fewer bytes than asked for
  | "encoding" // a compressed answer to a range request
  | "changed" // the file changed between two reads
  | "no-ranges" // the server ignores Range and the file is too large to take whole
  | "cannot-list" // nothing that could be listed
  | "read-only"
  | "unavailable" // the kind of storage does not exist here
  | "quota" // no room left for what is to be written
  | "busy" // another page, worker or program has the file open
  | "permission" // the user has not let the page read or write the folder
  | "worker" // a worker that read, decoded or wrote failed, or ended, unexpectedly
  | "memory" // this thread, or a worker, has no memory left for what it decodes
  | "io"; // the platform's own error, see cause

/** What a {@link StorageError} carries. */
export interface StorageFailure {
  /** File inside the storage; `""` where no file is to blame. */
  readonly path: string;
  readonly reason: StorageErrorReason;
  readonly message: string;
  /** URL without credentials and query. */
  readonly url?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** The place where the bytes live failed, not the bytes. */
export class StorageError extends CheckpointError {
  readonly path: string;
  readonly reason: StorageErrorReason;
  readonly url: string | undefined;
  readonly status: number | undefined;

  constructor({ path, reason, message, url, status, cause }: StorageFailure) {
    const place = url ?? path;
    super(["Storage"], place === "" ? message : `${place}: ${message}`, cause === undefined ? undefined : { cause });
    this.path = path;
    this.reason = reason;
    this.url = url;
    this.status = status;
  }
}

/** What a {@link DeviceError} carries. */
export interface DeviceFailure {
  readonly reason: "out-of-memory" | "lost" | "limit" | "validation";
  /** Item and leaf path, such as `model/dense/kernel`; `""` when no leaf is to blame. */
  readonly leaf: string;
  /** Size of the leaf's buffer in bytes, padding included. */
  readonly bytes: number;
  /** The device limit that was hit, by its WebGPU name, and its value. */
  readonly limit?: { readonly name: string; readonly value: number } | undefined;
  readonly message: string;
  readonly cause?: unknown;
}

/** The GPU could not hold or take the data; every buffer made by the call was destroyed. */
export class DeviceError extends CheckpointError {
  readonly reason: DeviceFailure["reason"];
  readonly leaf: string;
  readonly bytes: number;
  readonly limit: { readonly name: string; readonly value: number } | undefined;

  constructor({ reason, leaf, bytes, limit, message, cause }: DeviceFailure) {
    super(["Device"], leaf === "" ? message : `${leaf}: ${message}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.leaf = leaf;
    this.bytes = bytes;
    this.limit = limit;
  }
}

/**
 * Tells the package's errors apart, also between two copies of the package.
 * A `CheckpointTreeMismatchError` is both `"TreeMismatch"` and `"Value"`.
 */
export function isCheckpointError<Kind extends CheckpointErrorKind>(error: unknown, kind: Kind): error is CheckpointErrors[Kind];
export function isCheckpointError(error: unknown): error is CheckpointErrors[CheckpointErrorKind];
export function isCheckpointError(error: unknown, kind?: CheckpointErrorKind): boolean {
  const kinds = error instanceof Error ? (error as Partial<CheckpointError>)[kindsKey] : undefined;
  return kinds !== undefined && (kind === undefined || kinds.includes(kind));
}

/** The start of a text: names in a damaged checkpoint may be of any length. */
const cut = (text: string, longest = 1000): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

const placeOf = (item: string, leaf: string, root = "the array") => [item, leaf].filter((part) => part !== "").join(" ") || root;

const subjectOf = (step: number | undefined) => (step === undefined ? "the checkpoint" : `checkpoint step ${step}`);

const longestList = 20;

/** Joins with `; `, cut where a message would fill a screen; the error's field has the whole list. */
function listed(lines: readonly string[]): string {
  const rest = lines.length - longestList;
  return rest > 0 ? `${lines.slice(0, longestList).join("; ")}; and ${rest} more` : lines.join("; ");
}
