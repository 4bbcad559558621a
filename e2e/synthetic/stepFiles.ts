import { type Dtype, dtypes } from "../../src/arrays/dtypes.js";
import { formatName, formatVersion } from "../../src/checkpoint/record/format.js";
import { btreeNode } from "../../src/ocdbt/format/btreeNode.js";
import { sealRecord } from "../../src/ocdbt/format/envelope.js";
import { LeafEntries, type LeafEntry } from "../../src/ocdbt/format/leafEntries.js";
import { manifest } from "../../src/ocdbt/format/manifest.js";
import { formatTreeMetadata } from "../../src/pytree/treeMetadata.js";
import type { ServedFile } from "../server/server.mjs";
import { pieceFile } from "./pieceFile.js";

/** An array of a made step. */
export interface MadeArray {
  /** Its key in the item's dict. */
  readonly name: string;
  readonly dtype: Dtype;
  /** How elements of several bytes stand in its chunks; little endian unless given. */
  readonly byteOrder?: "big" | undefined;
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Whether its chunks are zstd frames, as Orbax writes them, or bare. */
  readonly compressed: boolean;
  /** Chunks in C order of the grid; each in pieces that make up its stored bytes. */
  readonly chunks: readonly (readonly Uint8Array[])[];
}

const text = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

/**
 * The files of a step as substrax lays it out, with one item that is a dict of arrays, in an OCDBT database that this project's own
 * record codecs write. Chunks are served from their pieces, so that a large one takes no memory.
 */
export function stepFiles(step: number, item: string, arrays: readonly MadeArray[]): Map<string, Uint8Array | ServedFile> {
  const record = {
    format: formatName,
    format_version: formatVersion,
    step,
    epoch: null,
    items: [item],
    libraries: {},
    producer: null,
    metrics: {},
    extra: {},
    created_at: "2026-01-01T00:00:00+00:00",
  };
  const files: [string, Uint8Array | ServedFile][] = [
    ["metadata/metadata", text(record)],
    ["dtypes/metadata", text({ [item]: Object.fromEntries(arrays.map(({ name, dtype }) => [name, dtype])) })],
    ["_CHECKPOINT_METADATA", text({ item_handlers: {} })],
    [`${item}/_METADATA`, text(treeMetadata(arrays))],
    ...databaseFiles(arrays).map(([path, file]) => [`${item}/${path}`, file] as [string, Uint8Array | ServedFile]),
  ];
  return new Map(files.map(([path, file]) => [`${step}/${path}`, file]));
}

const treeMetadata = (arrays: readonly MadeArray[]): string =>
  formatTreeMetadata({
    entries: arrays.map(({ name, shape }) => ({
      path: ["tree", name].map((key) => ({ key, kind: "mapping" as const })),
      valueType: "jax.Array",
      skipDeserialize: false,
      writeShape: shape,
    })),
    useOcdbt: true,
    useZarr3: false,
    storeArrayDataEqualToFillValue: true,
  });

const dataPath = "d/0123456789abcdef0123456789abcdef";

/** The manifest, and one data file: the chunks one after the other, then the only node of the index. */
function databaseFiles(arrays: readonly MadeArray[]): [string, Uint8Array | ServedFile][] {
  const data: Uint8Array[] = [];
  let offset = 0;
  const entries: { key: string; value: LeafEntry["value"] }[] = [];
  for (const array of arrays) {
    entries.push({ key: `tree.${array.name}/.zarray`, value: { kind: "inline", bytes: text(zarray(array)) } });
    const keys = chunkKeys(array);
    for (const [index, pieces] of array.chunks.entries()) {
      const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
      const key = `tree.${array.name}/${keys[index] ?? ""}`;
      entries.push({ key, value: { kind: "indirect", fileId: 0, offset: BigInt(offset), length: BigInt(length) } });
      for (const piece of pieces) data.push(piece);
      offset += length;
    }
  }
  const sorted = entries.sort((a, b) => Buffer.compare(text(a.key), text(b.key))).map(({ key, value }) => ({ key: text(key), value }));
  const node = sealRecord("B+tree node", btreeNode, {
    kind: "leaf",
    height: 0,
    files: [{ basePath: "", relativePath: dataPath }],
    entries: LeafEntries.of(sorted),
  });
  return [
    ["manifest.ocdbt", manifestOf(offset, node.byteLength)],
    [dataPath, pieceFile([...data, node])],
  ];
}

const manifestOf = (offset: number, length: number): Uint8Array =>
  sealRecord("manifest", manifest, {
    config: {
      uuid: new Uint8Array(16).fill(7),
      manifestKind: "single",
      maxInlineValueBytes: 1024,
      maxDecodedNodeBytes: 100_000_000,
      versionTreeArityLog2: 4,
      compression: { method: "none" },
    },
    content: {
      files: [{ basePath: "", relativePath: dataPath }],
      versions: [
        {
          generation: 1n,
          rootHeight: 0,
          fileId: 0,
          offset: BigInt(offset),
          length: BigInt(length),
          numKeys: 0n,
          numTreeBytes: 0n,
          numIndirectValueBytes: 0n,
          commitTime: 1n,
        },
      ],
      versionTreeNodes: [],
    },
  });

const zarray = ({ dtype, byteOrder, shape, chunkShape, compressed }: MadeArray) => ({
  zarr_format: 2,
  shape,
  chunks: chunkShape,
  dtype: byteOrder === "big" ? dtypes[dtype].v2.replace("<", ">") : dtypes[dtype].v2,
  compressor: compressed ? { id: "zstd", level: 1 } : null,
  fill_value: null,
  order: "C",
  filters: null,
  dimension_separator: ".",
});

/** Keys of the chunks in C order, such as `3.0`. */
function chunkKeys({ shape, chunkShape }: MadeArray): string[] {
  let keys = [""];
  for (const [axis, length] of shape.entries()) {
    const count = Math.ceil(length / (chunkShape[axis] ?? 1));
    keys = keys.flatMap((key) => Array.from({ length: count }, (_, index) => (key === "" ? `${index}` : `${key}.${index}`)));
  }
  return shape.length === 0 ? ["0"] : keys;
}
