import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ReadableStorage } from "../storage/storage.js";
import { type OcdbtDatabase, type OcdbtOptions, openOcdbt } from "./open.js";

const fixtures = join(import.meta.dirname, "../../e2e/fixtures/data/ocdbt");

/** Databases that TensorStore wrote, by the name of their fixture. */
export const databaseNames: readonly string[] = readdirSync(fixtures);

/** The files of a database that TensorStore wrote, by path. */
export function database(name: string): Map<string, Uint8Array> {
  const folder = join(fixtures, name, "database");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());
  return new Map(paths.map((path) => [path, new Uint8Array(readFileSync(join(folder, path)))]));
}

/** The text that says what is in a database that TensorStore wrote. */
export const expectedJson = (name: string): string => readFileSync(join(fixtures, name, "expected.json"), "utf8");

/** The database in a storage; fails where there is none. */
export async function opened(storage: ReadableStorage, options?: OcdbtOptions): Promise<OcdbtDatabase> {
  const found = await openOcdbt(storage, options);
  if (found === undefined) throw new Error("no database");
  return found;
}

/** All that an iterable gives. */
export async function listed(keys: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const key of keys) all.push(key);
  return all;
}

/** Counts what a storage is asked for. */
export function counted(storage: ReadableStorage) {
  const reads: string[] = [];
  const counting: ReadableStorage = {
    ...storage,
    read(path, options) {
      reads.push(options?.range === undefined ? path : `${path} ${options.range.offset}+${options.range.length}`);
      return storage.read(path, options);
    },
  };
  return { storage: counting, reads };
}

/** Checks that a read fails with a CorruptCheckpointError of this file that says this. */
export async function expectCorrupt(found: Promise<unknown>, path: string, message: string | RegExp): Promise<void> {
  await expect(found).rejects.toThrow(message);
  await expect(found).rejects.toMatchObject({ name: "CorruptCheckpointError", path });
}
