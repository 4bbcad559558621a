import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseJson } from "../bytes/json.js";
import { mergeRanges } from "../bytes/ranges.js";
import { type BtreeNode, btreeNode } from "../ocdbt/format/btreeNode.js";
import type { DataFile } from "../ocdbt/format/dataFileTable.js";
import { openRecord } from "../ocdbt/format/envelope.js";
import type { IndirectReference } from "../ocdbt/format/indirectReference.js";
import { manifest } from "../ocdbt/format/manifest.js";
import { parseTreeMetadata, valueTypes } from "../pytree/treeMetadata.js";

/** Files by path from the store's root. */
export type Files = Map<string, Uint8Array>;

/** The fixtures that real substrax wrote. */
export const fixtureFolder = join(import.meta.dirname, "../../e2e/fixtures/data");

/** All files of one step of a fixture's store. */
export function filesOfStep(fixture: string, step: number): Files {
  const root = join(fixtureFolder, fixture, "checkpoints");
  const entries = readdirSync(join(root, String(step)), { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [relative(root, path).replaceAll(sep, "/"), new Uint8Array(readFileSync(path))]));
}

/** Some bytes of a file that a restore of everything needs. */
export interface NeededBytes {
  /** `"manifest"` and `"node"` stand under a checksum, inline values with them; `"chunk"` and `"json"` do not. */
  readonly kind: "manifest" | "node" | "chunk" | "json";
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  /** Of a node: how many bytes it refers to, and how many it holds inline. */
  readonly item?: string;
}

/** What the index of an item's database refers to. */
interface ItemBytes {
  readonly needed: NeededBytes[];
  readonly folder: string;
  readonly files: Files;
}

/**
 * Every byte that a restore of the whole step needs, read off the manifests and nodes without the restore's own code: of nodes and
 * chunks exactly their ranges.
 */
export async function bytesNeeded(files: Files, step: number): Promise<NeededBytes[]> {
  const whole = (kind: NeededBytes["kind"], path: string): NeededBytes[] => {
    const bytes = files.get(path);
    return bytes === undefined ? [] : [{ kind, path, offset: 0, length: bytes.length }];
  };
  const needed = [...whole("json", `${step}/metadata/metadata`), ...whole("json", `${step}/dtypes/metadata`)];
  for (const item of itemsOf(files, step)) {
    const folder = `${step}/${item}/`;
    const { entries } = parseTreeMetadata(files.get(`${folder}_METADATA`) ?? new Uint8Array(), "_METADATA");
    needed.push(...whole("json", `${folder}_METADATA`), ...whole("manifest", `${folder}manifest.ocdbt`));
    if (entries.some(({ valueType }) => valueType === "string")) needed.push(...whole("json", `${folder}_strings.json`));
    if (!entries.some(({ valueType }) => ["array", "scalar"].includes(valueTypes[valueType]))) continue;
    const found: ItemBytes = { needed: [], folder, files };
    const keys = await readDatabase(found);
    if (entries.some(({ valueType }) => valueType === "jax.Array") && keys.some(couldBeKey))
      needed.push(...whole("json", `${folder}array_metadatas/process_0`));
    needed.push(...found.needed.map((bytes) => ({ ...bytes, item })));
  }
  return needed;
}

/** Names of the items that the record lists, each once. */
export function itemsOf(files: Files, step: number): string[] {
  const record = parseJson(files.get(`${step}/metadata/metadata`) ?? new Uint8Array(), "metadata") as { items: string[] };
  return [...new Set(record.items)];
}

/** How many requests the chunks of a step take at least where neighbours are read together by the documented rule: 64 KiB, 8 MiB. */
export function mergedRuns(needed: readonly NeededBytes[], longestRun = 8 * 1024 * 1024): number {
  const files = new Map<string, NeededBytes[]>();
  for (const bytes of needed) if (bytes.kind === "chunk") files.set(bytes.path, [...(files.get(bytes.path) ?? []), bytes]);
  return [...files.values()].reduce((count, ranges) => count + mergeRanges(ranges, { largestGap: 64 * 1024, longestRun }).length, 0);
}

/** The metadata of an array of uint32 with axes: only such a one may be the data of a typed key. */
const couldBeKey = (zarray: string): boolean => /"dtype":"<u4"/.test(zarray) && !/"shape":\[\]/.test(zarray);

/** Adds the item's nodes and chunks; the metadata of its arrays, as text. */
async function readDatabase(found: ItemBytes): Promise<string[]> {
  const path = `${found.folder}manifest.ocdbt`;
  const { content } = await openRecord("manifest", manifest, found.files.get(path) ?? new Uint8Array(), { path, offset: 0 });
  const version = content?.versions.at(-1);
  return version === undefined ? [] : readNode(found, found.folder, content?.files ?? [], version);
}

async function readNode(found: ItemBytes, base: string, table: readonly DataFile[], reference: IndirectReference): Promise<string[]> {
  const place = placeOf(base, table, reference);
  found.needed.push({ kind: "node", path: place.path, offset: place.offset, length: place.length });
  const bytes = found.files.get(place.path)?.subarray(place.offset, place.offset + place.length) ?? new Uint8Array();
  const node = await openRecord("B+tree node", btreeNode, bytes, place);
  return node.kind === "leaf" ? readLeaf(found, place.base, node) : readChildren(found, place.base, node);
}

async function readChildren(found: ItemBytes, base: string, node: BtreeNode & { kind: "interior" }): Promise<string[]> {
  const zarrays = [];
  for (const child of node.children) zarrays.push(...(await readNode(found, base, node.files, child)));
  return zarrays;
}

function readLeaf(found: ItemBytes, base: string, node: BtreeNode & { kind: "leaf" }): string[] {
  const zarrays: string[] = [];
  for (const { key, value } of node.entries) {
    if (value.kind === "indirect") {
      const { path, offset, length } = placeOf(base, node.files, value);
      found.needed.push({ kind: "chunk", path, offset, length });
    } else if (new TextDecoder().decode(key).endsWith("/.zarray")) {
      zarrays.push(new TextDecoder().decode(value.bytes));
    }
  }
  return zarrays;
}

function placeOf(base: string, table: readonly DataFile[], { fileId, offset, length }: IndirectReference) {
  const { basePath, relativePath } = table[fileId] ?? { basePath: "", relativePath: "" };
  return { base: base + basePath, path: base + basePath + relativePath, offset: Number(offset), length: Number(length) };
}
