import { dtypes } from "../arrays/dtypes.js";
import { parseJson } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import { readCodecs } from "./codecChain.js";
import { parseV3Dtype } from "./dtypeName.js";
import { parseFillValue } from "./fillValue.js";
import { type ArrayMetadata, checkSizes, oneOf, readLengths } from "./metadata.js";
import { type RawDocument, rawV3Dtypes } from "./rawDocument.js";
import type { ShardLayout } from "./shardIndex.js";

/**
 * Parses `zarr.json` of a zarr v3 array as TensorStore writes it for Orbax, and of hand-made ones: regular grid, both key
 * encodings, and the codecs that {@link readCodecs} takes.
 * @throws CorruptCheckpointError for members that are missing or of a wrong type, UnsupportedCheckpointError for what is not read.
 */
export function parseZarrJson(bytes: Uint8Array, path: string): ArrayMetadata {
  const root = new JsonMember(path, "the array's metadata", parseJson(bytes, path));
  if (root.integerAt("zarr_format") !== 3) root.member("zarr_format").fail("3");
  oneOf(root.member("node_type"), ["array"]);
  requireNoTransformers(root, path);
  const shape = readLengths(root.member("shape"), 0);
  const gridShape = readGrid(root.member("chunk_grid"), shape.length, path);
  const dtype = parseV3Dtype(root.stringAt("data_type"), path);
  const chain = readCodecs(root.member("codecs"), gridShape, path);
  const fillMember = root.member("fill_value");
  const fill = root.object().fill_value ?? fillMember.fail("a value");
  const metadata: Omit<ArrayMetadata, "fill"> = {
    spec: { shape, dtype },
    grid: { shape, chunkShape: gridShape, keyOf: readKeyEncoding(root.member("chunk_key_encoding")) },
    compression: chain.compression,
    byteOrder: chain.byteOrder,
    transposed: chain.transpose !== undefined,
    fillIsNull: false,
    document:
      chain.transpose && rawDocument(shape, rawV3Dtypes[dtypes[dtype].itemsize], innermost(chain.shard) ?? gridShape, chain.transpose),
    shard: chain.shard,
  };
  checkSizes(metadata, path);
  return { ...metadata, fill: parseFillValue({ value: fill, member: fillMember, dtype, byteOrder: "little", path }) };
}

/** Shape of the chunks that are no shards. */
const innermost = (shard: ShardLayout | undefined): readonly number[] | undefined => shard && (innermost(shard.inner) ?? shard.chunkShape);

function requireNoTransformers(root: JsonMember, path: string): void {
  if ((root.optional("storage_transformers")?.list().length ?? 0) === 0) return;
  throw new UnsupportedCheckpointError(`${path}: storage transformers are not read; write the array again without them`);
}

function readGrid(grid: JsonMember, rank: number, path: string): number[] {
  const name = grid.member("name").string();
  if (name !== "regular")
    throw new UnsupportedCheckpointError(
      `${path}: chunk grid ${JSON.stringify(name)} is not read, only "regular"; write the array again with that`,
    );
  const member = grid.member("configuration").member("chunk_shape");
  const lengths = readLengths(member, 1);
  return lengths.length === rank ? lengths : member.fail(`${rank} lengths, as in shape`);
}

function readKeyEncoding(encoding: JsonMember): (indices: readonly number[]) => string {
  const name = oneOf(encoding.member("name"), ["default", "v2"]);
  const separatorMember = encoding.optional("configuration")?.optional("separator");
  const separator = separatorMember === undefined ? undefined : oneOf(separatorMember, [".", "/"]);
  return name === "default" ? (indices) => ["c", ...indices].join(separator ?? "/") : (indices) => indices.join(separator ?? ".") || "0";
}

function rawDocument(
  shape: readonly number[],
  dtype: (typeof rawV3Dtypes)[keyof typeof rawV3Dtypes],
  chunkShape: readonly number[],
  transpose: readonly number[],
): RawDocument {
  return {
    zarr_format: 3,
    node_type: "array",
    shape,
    data_type: dtype,
    chunk_grid: { name: "regular", configuration: { chunk_shape: chunkShape } },
    chunk_key_encoding: { name: "default" },
    codecs: [
      { name: "transpose", configuration: { order: transpose } },
      { name: "bytes", configuration: { endian: "little" } },
    ],
    fill_value: 0,
  };
}
