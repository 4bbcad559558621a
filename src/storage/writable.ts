import type { ReadableStorage, WritableStorage } from "./storage.js";

/** True where a storage can also be changed: it has all the methods of a {@link WritableStorage}. */
export function isWritable(storage: ReadableStorage): storage is WritableStorage {
  const { create, write, move, remove } = storage as Partial<WritableStorage>;
  return [create, write, move, remove].every((method) => typeof method === "function");
}
