import type { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { Compression } from "./decompress.js";
import type { ByteOrder } from "./dtypeName.js";
import { oneOf, readLengths, requireCodec } from "./metadata.js";
import type { ShardLayout } from "./shardIndex.js";

/** The codecs of a zarr v3 array, sorted out: what is done to the elements, how they become bytes, what is done to these. */
export interface CodecChain {
  /** Axes of the chunk in the order in which they are stored, outermost first. */
  readonly transpose?: readonly number[] | undefined;
  readonly byteOrder: ByteOrder;
  /** Of a chunk; where there are shards, of the innermost one. */
  readonly compression: Compression;
  readonly shard?: ShardLayout | undefined;
}

/**
 * Reads `codecs` of zarr.json: at most one `transpose`, then `bytes` or `sharding_indexed`, then compressors and `crc32c` in any order.
 * @throws UnsupportedCheckpointError naming a codec that is not read where it stands.
 */
export function readCodecs(member: JsonMember, chunkShape: readonly number[], path: string): CodecChain {
  const codecs = [...member.list()];
  const transpose = nameOf(codecs[0]) === "transpose" ? readTranspose(codecs.shift(), chunkShape.length) : undefined;
  const serializer = codecs.shift() ?? member.fail('a list with "bytes" or "sharding_indexed"');
  const name = nameOf(serializer);
  const compression = codecs.map((codec) => requireCodec(codec.member("name").string(), path));
  if (name === "sharding_indexed" && transpose === undefined) return readSharding(serializer, chunkShape, compression, path);
  if (name === "bytes") return { transpose, byteOrder: byteOrderOf(serializer), compression };
  throw new UnsupportedCheckpointError(`${path}: codec ${JSON.stringify(name)} is not read at its place in the chain`);
}

function byteOrderOf(bytes: JsonMember): ByteOrder {
  const endian = bytes.optional("configuration")?.optional("endian");
  return endian === undefined ? "little" : oneOf(endian, ["little", "big"]);
}

const nameOf = (codec: JsonMember | undefined): string | undefined => codec?.member("name").string();

function readTranspose(codec: JsonMember | undefined, rank: number): number[] | undefined {
  const member = codec?.member("configuration").member("order");
  const order = member?.list().map((axis) => axis.integer());
  const isPermutation = order?.length === rank && order.every((axis) => order.indexOf(axis) === order.lastIndexOf(axis) && axis in order);
  return isPermutation ? order : member?.fail(`each axis from 0 to ${rank - 1} once`);
}

function readSharding(codec: JsonMember, shardShape: readonly number[], outer: Compression, path: string): CodecChain {
  const configuration = codec.member("configuration");
  const member = configuration.member("chunk_shape");
  const chunkShape = readLengths(member, 1);
  const divides = chunkShape.length === shardShape.length && chunkShape.every((length, axis) => (shardShape[axis] ?? 0) % length === 0);
  if (!divides) member.fail(`lengths that divide the shard's [${shardShape.join(", ")}]`);
  const inner = readCodecs(configuration.member("codecs"), chunkShape, path);
  const location = configuration.optional("index_location");
  return {
    ...inner,
    shard: {
      chunkShape,
      chunksPerShard: chunkShape.map((length, axis) => (shardShape[axis] ?? 0) / length),
      indexLocation: location === undefined ? "end" : oneOf(location, ["start", "end"]),
      ...readIndexCodecs(configuration.member("index_codecs"), path),
      outer,
      inner: inner.shard,
    },
  };
}

/** The index is in plain bytes, as zarr requires, with a CRC-32C or without. */
function readIndexCodecs(member: JsonMember, path: string): Pick<ShardLayout, "indexByteOrder" | "indexIsChecked"> {
  const [bytes, checksum, ...more] = member.list();
  if (bytes !== undefined && nameOf(bytes) === "bytes" && [undefined, "crc32c"].includes(nameOf(checksum)) && more.length === 0)
    return { indexByteOrder: byteOrderOf(bytes), indexIsChecked: checksum !== undefined };
  throw new UnsupportedCheckpointError(`${path}: a shard index is read as bytes, with crc32c or without, and nothing else`);
}
