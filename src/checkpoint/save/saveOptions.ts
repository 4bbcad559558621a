import {
  aBoolean,
  aFunction,
  anObject,
  aSignal,
  integerFrom,
  oneOf,
  orNull,
  type Rule,
  requireArgument,
  requireOptions,
  shown,
} from "../../arguments.js";
import { CheckpointValueError } from "../../errors.js";
import type { TaskContext } from "../../tasks/context.js";
import type { OpenedCheckpoint } from "../openedCheckpoint.js";
import type { Checkpoint } from "../openedStep.js";
import type { Producer } from "../record/record.js";
import type { PlainJson } from "../record/untagged.js";
import type { ItemName } from "../template/restoredTypes.js";

/** How chunks and indexes are stored. */
export type Compression = "none" | "zstd";

/** What a call does where another one is writing into the same directory. */
export interface LockOptions extends Pick<TaskContext, "signal"> {
  /** `"wait"` (default), or `"fail"`: an error at once. */
  readonly ifLocked?: "wait" | "fail" | undefined;
}

/** Opened checkpoints by the item that is to be like them. */
type LikeOpened = { readonly [Item in ItemName]?: Pick<OpenedCheckpoint, "layout" | "leaves"> | undefined };

/** Options of a save. */
export interface SaveOptions extends TaskContext, LockOptions {
  readonly epoch?: number | null | undefined;
  /** Numbers that `bestStep` compares; NaN and infinities are values. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  /** The library that makes the checkpoint, if it wants to be named. */
  readonly producer?: Producer | null | undefined;
  /** JSON values of the caller's own, by names that are none of the record's members. */
  readonly extra?: Readonly<Record<string, PlainJson>> | undefined;
  /** Replaces the step where it exists; false by default. A save that fails leaves what was there. */
  readonly overwrite?: boolean | undefined;
  /**
   * A restored step, or an opened checkpoint for each item, such as `{ model: checkpoint }`, whose kinds the leaves keep: float or int, NumPy or
   * JAX, tuple or list where empty, and all tuples and namedtuples where Orbax's rich types tell them.
   */
  readonly like?: Pick<Checkpoint<unknown>, "step" | "items"> | LikeOpened | undefined;
  /** Of chunks and indexes; `"none"` by default, which is the fastest to restore. */
  readonly compression?: Compression | undefined;
}

const itemNames: readonly ItemName[] = ["model", "optimizer", "rng", "data_iterator", "extensions"];

/** The record's members, of which `extra` may have none. */
const reserved = ["format", "format_version", "step", "epoch", "items", "libraries", "producer", "metrics", "extra", "created_at"] as const;

/** Of a call that takes turns with other writers. */
export const lockRules = { signal: aSignal, ifLocked: oneOf("wait", "fail") };

const isText = (value: unknown): boolean => typeof value === "string";

const isProducer = (value: unknown): boolean => isObject(value) && isText(value.name) && isText(value.version);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => aPlainObject.accepts(value);

const aPlainObject: Rule = {
  expected: "a plain object",
  accepts(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  },
  shown,
};

const saveRules = {
  ...lockRules,
  onProgress: aFunction,
  epoch: orNull({ expected: "an integer", accepts: Number.isSafeInteger, shown }),
  metrics: { ...aPlainObject, expected: "a plain object of numbers" },
  producer: orNull({ expected: "{ name, version }, both texts", accepts: isProducer, shown }),
  extra: { ...aPlainObject, expected: "a plain object of JSON values" },
  overwrite: aBoolean,
  like: anObject,
  compression: oneOf("none", "zstd"),
};

/**
 * Checks all arguments of a save but its trees.
 * @throws CheckpointValueError naming what is wrong.
 */
export function requireSaveArguments(step: unknown, items: unknown, options: SaveOptions): void {
  requireArgument("the step that save takes", step, integerFrom(0));
  requireOptions("save", options, saveRules);
  requireItems(items);
  requireExtra(options.extra ?? {});
  requireMetrics(options.metrics ?? {});
}

function requireItems(items: unknown): void {
  requireArgument("what save takes as items", items, { ...anObject, expected: "an object of trees by item name" });
  const names = Object.keys(items as object);
  if (names.length === 0) throw new CheckpointValueError("a checkpoint holds at least one item");
  const unknown = names.filter((name) => !itemNames.includes(name as ItemName));
  if (unknown.length > 0)
    throw new CheckpointValueError(
      `unknown items ${JSON.stringify(unknown.sort())}; a checkpoint's items are ${JSON.stringify(itemNames)}`,
    );
}

function requireExtra(extra: object): void {
  const taken = Object.keys(extra).filter((name) => reserved.includes(name as (typeof reserved)[number]));
  if (taken.length > 0) throw new CheckpointValueError(`extra has names that the record needs itself: ${JSON.stringify(taken.sort())}`);
  const problem = jsonProblem(extra, "extra", 0);
  if (problem !== undefined) throw new CheckpointValueError(problem);
}

const deepestJson = 200;

/** What in a value is no JSON, with its place. */
function jsonProblem(value: unknown, place: string, depth: number): string | undefined {
  if (depth > deepestJson) return `${place} nests deeper than ${deepestJson}; does it hold itself?`;
  if (value === null || ["string", "number", "bigint", "boolean"].includes(typeof value)) return undefined;
  if (!Array.isArray(value) && !isObject(value))
    return `${place} is no JSON value; use null, booleans, numbers, texts, arrays and plain objects`;
  for (const [key, member] of Object.entries(value)) {
    const problem = jsonProblem(member, `${place}.${key}`, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function requireMetrics(metrics: object): void {
  const bad = Object.entries(metrics).filter(([, value]) => typeof value !== "number");
  if (bad.length > 0)
    throw new CheckpointValueError(`metrics are numbers; ${bad.map(([name]) => JSON.stringify(name)).join(", ")} are not`);
}
