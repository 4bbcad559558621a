import { anObject, aSignal, requireArgument } from "../arguments.js";
import { keepsStreams, keptStreamOf } from "./keptStream.js";
import type { ReadableStorage } from "./storage.js";

/** Which argument of a storage's methods are their options. */
const places = {
  read: 1,
  list: 1,
  size: 1,
  stream: 2,
  handle: 1,
  facts: 1,
  create: 1,
  write: 2,
  move: 2,
  remove: 1,
  removeAbandoned: 1,
  requireRoom: 1,
} as const;

type Method = (...given: unknown[]) => unknown;

/** The same storage for callers without types: its methods refuse, by CheckpointValueError, options that are none and signals that are none. */
export function withCheckedOptions<Storage extends ReadableStorage>(storage: Storage): Storage {
  const methods = Object.entries(places).flatMap(([name, place]) => {
    const method = storage[name as keyof Storage] as Method | undefined;
    if (method === undefined) return [];
    const checked: Method = (...given) => {
      requireSignal(name, given[place]);
      return method.apply(storage, given);
    };
    return [[name, name === "stream" ? checked : async (...given: unknown[]) => checked(...given)] as const];
  });
  return keepsStreams({ ...storage, ...Object.fromEntries(methods) }, keptStreamOf(storage));
}

/** Of other options a storage takes those that it knows. */
function requireSignal(call: string, options: unknown): void {
  if (options === undefined) return;
  requireArgument(`what ${call} takes as options`, options, anObject);
  const { signal } = options as { readonly signal?: unknown };
  if (signal !== undefined) requireArgument(`${call}'s option signal`, signal, aSignal);
}
