import type { FileLocation, LocatedStorage, PacedContext, RangeLocation, ReadAllOptions } from "./located.js";
import type { ReadableStorage } from "./storage.js";

/** A storage of a union. */
export interface UnitedPart {
  /** What its paths begin with in the union: `""`, or a text that ends with `/`. */
  readonly prefix: string;
  readonly storage: ReadableStorage | LocatedStorage;
}

type Location = RangeLocation | FileLocation;

/**
 * Several storages as one. Where several have a path, the one with the longest prefix counts, and of two with the same the last. A storage that
 * cannot tell where its bytes are is taken to have all paths that no other has.
 */
export function unitedStorage(parts: readonly UnitedPart[]): LocatedStorage {
  const [only] = parts;
  if (parts.length === 1 && only?.prefix === "") return locatedStorage(only.storage);
  const storages = new Map<string, LocatedStorage[]>();
  for (const { prefix, storage } of parts) storages.set(prefix, [locatedStorage(storage), ...(storages.get(prefix) ?? [])]);
  const prefixes = [...storages.keys()].sort((a, b) => b.length - a.length);

  const ask = async <Value>(
    paths: readonly string[],
    answer: (storage: LocatedStorage, paths: readonly string[]) => Promise<readonly (Value | undefined)[]>,
  ): Promise<(Value | undefined)[]> => {
    const answers = paths.map((): Value | undefined => undefined);
    const indices = indicesByPrefix(paths, storages);
    for (const prefix of prefixes) {
      for (const storage of storages.get(prefix) ?? []) {
        const open = (indices.get(prefix) ?? []).filter((index) => answers[index] === undefined);
        if (open.length === 0) break;
        const found = await answer(
          storage,
          open.map((index) => paths[index]?.slice(prefix.length) ?? ""),
        );
        for (const [nth, index] of open.entries()) answers[index] = found[nth];
      }
    }
    return answers;
  };
  return {
    locateAll: (paths, context) => ask<Location>(paths, (storage, rests) => storage.locateAll(rests, context)),
    readAll: (paths, options) => ask(paths, (storage, rests) => storage.readAll(rests, options)),
  };
}

/** Which of the paths begin with each prefix. */
function indicesByPrefix(paths: readonly string[], prefixes: ReadonlyMap<string, unknown>): Map<string, number[]> {
  const indices = new Map<string, number[]>();
  const add = (prefix: string, index: number) => {
    if (!prefixes.has(prefix)) return;
    const some = indices.get(prefix);
    if (some === undefined) indices.set(prefix, [index]);
    else some.push(index);
  };
  for (const [index, path] of paths.entries()) {
    add("", index);
    if (prefixes.size === 1 && prefixes.has("")) continue;
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) add(path.slice(0, slash + 1), index);
  }
  return indices;
}

/** A storage as one that knows where its bytes are: each path is a file of its own. */
function locatedStorage(storage: ReadableStorage | LocatedStorage): LocatedStorage {
  if ("locateAll" in storage) return storage;
  return {
    locateAll: async (paths: readonly string[], _context?: PacedContext) => paths.map((path) => ({ storage, path })),
    readAll: (paths: readonly string[], options?: ReadAllOptions) => Promise.all(paths.map((path) => storage.read(path, options))),
  };
}
