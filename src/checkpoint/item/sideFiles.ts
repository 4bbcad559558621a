import { formatJson } from "../../bytes/formatJson.js";
import { longestJson, parseJson, parseJsonInTurns } from "../../bytes/json.js";
import { CorruptCheckpointError } from "../../errors.js";
import { parseArrayMetadatas } from "../../pytree/arrayMetadatas.js";
import { paramName } from "../../pytree/keyPath.js";
import { findString } from "../../pytree/strings.js";
import type { TreeEntry } from "../../pytree/treeMetadata.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Pace } from "../../tasks/pace.js";
import type { ZarrArray } from "../../zarr/openArray.js";
import { listingOf } from "./arrayPlaces.js";
import type { TreeSource } from "./treeSource.js";

const stringsFile = "_strings.json";

/**
 * Reads the strings of an item: of the state file, and from `_strings.json` where there are others.
 * @throws CorruptCheckpointError where the file, or the text of a leaf, is missing.
 */
export async function readStrings(
  folder: ReadableStorage,
  { entries, state }: TreeSource,
  pace: Pace,
  { signal }: TaskContext,
): Promise<ReadonlyMap<TreeEntry, string>> {
  const texts = new Map<TreeEntry, string>();
  for (const [entry, leaf] of state) if (leaf.kind === "string") texts.set(entry, leaf.value);
  const strings = entries.filter((entry) => entry.valueType === "string" && !texts.has(entry));
  if (strings.length === 0) return texts;
  const path = stringsFile;
  const bytes = await folder.read(path, { longest: longestJson, signal });
  if (bytes === undefined)
    throw new CorruptCheckpointError({ path, expected: `the texts of ${strings.length} leaves`, received: "no such file" });
  const document = await parseJsonInTurns(bytes, path, pace, { floats: "tagged" });
  for (const entry of strings) {
    const name = paramName(entry.path);
    const value = findString(document, name);
    if (value === undefined)
      throw new CorruptCheckpointError({ path, expected: `a text for leaf ${JSON.stringify(name)}`, received: "none" });
    texts.set(entry, typeof value === "string" ? value : formatJson(value));
  }
  return texts;
}

/** An entry that has an array, or should have one, and what the array is called. */
export interface NamedEntry {
  readonly entry: TreeEntry;
  readonly name: string;
}

/** Most arrays whose folders are looked into. */
const mostFolders = 64;

/**
 * Texts of leaves that a state file marks as arrays: they lie beside it; Orbax 0.3 put all of them into the folder of one, and could not restore
 * them itself.
 */
export async function readMarkedStrings(
  folder: ReadableStorage,
  leaves: readonly NamedEntry[],
  { signal }: TaskContext,
): Promise<ReadonlyMap<TreeEntry, string>> {
  const texts = new Map<TreeEntry, string>();
  const names = leaves.slice(0, mostFolders).flatMap(({ name }) => (name === "" ? [] : [name]));
  const paths = [stringsFile, ...names.map((name) => `${name}/${stringsFile}`)];
  for (const path of leaves.length === 0 ? [] : paths) {
    const bytes = await folder.read(path, { longest: longestJson, signal });
    if (bytes === undefined) continue;
    const document = parseJson(bytes, path);
    for (const leaf of leaves) {
      const text = findString(document, leaf.name);
      if (typeof text === "string") texts.set(leaf.entry, text);
    }
    if (texts.size === leaves.length) break;
  }
  return texts;
}

/** Implementations of typed keys by param name. Only `array_metadatas` tells keys from other arrays; it is read where an array could be one. */
export async function readKeyImpls(
  folder: ReadableStorage,
  opened: ReadonlyMap<TreeEntry, ZarrArray>,
  pace: Pace,
  context: TaskContext,
): Promise<ReadonlyMap<string, string>> {
  if (!hasPossibleKey(opened)) return new Map();
  const file = await readAnyProcess(folder, context);
  const metadatas = file === undefined ? [] : await parseArrayMetadatas(file.bytes, file.path, pace);
  return new Map(metadatas.flatMap(({ paramName, randomKeyImpl }) => (randomKeyImpl === undefined ? [] : [[paramName, randomKeyImpl]])));
}

function hasPossibleKey(opened: ReadonlyMap<TreeEntry, ZarrArray>): boolean {
  for (const [{ valueType }, { spec }] of opened) {
    if (valueType === "jax.Array" && spec.dtype === "uint32" && spec.shape.length > 0) return true;
  }
  return false;
}

/** The file of any process, since all list the same arrays; mostly there is one of process 0. */
async function readAnyProcess(folder: ReadableStorage, context: TaskContext) {
  const read = async (path: string) => {
    const bytes = await folder.read(path, { longest: longestJson, signal: context.signal });
    return bytes && { path, bytes };
  };
  const first = await read("array_metadatas/process_0");
  if (first !== undefined) return first;
  const names = (await listingOf(folder, "array_metadatas/", context))?.files.filter((name) => name.startsWith("process_"));
  return names?.[0] === undefined ? undefined : read(`array_metadatas/${names[0]}`);
}
