import { type Rule, shown } from "../arguments.js";
import type { ReadableStorage, WritableStorage } from "./storage.js";

/** A storage, known by its two methods. */
export const aStorage: Rule = {
  expected: "a storage with read and list",
  accepts: (value) => isReadable((value ?? {}) as Partial<ReadableStorage>),
  shown,
};

/** A {@link WritableStorage}. */
export const aWritableStorage: Rule = {
  expected: "a storage with read, list, create, write, move and remove",
  accepts: (value) => aStorage.accepts(value) && isWritable(value as ReadableStorage),
  shown,
};

const isReadable = ({ read, list }: Partial<ReadableStorage>): boolean => typeof read === "function" && typeof list === "function";

/** True where a storage can also be changed: it has all the methods of a {@link WritableStorage}. */
export function isWritable(storage: ReadableStorage): storage is WritableStorage {
  const { create, write, move, remove } = storage as Partial<WritableStorage>;
  return [create, write, move, remove].every((method) => typeof method === "function");
}
