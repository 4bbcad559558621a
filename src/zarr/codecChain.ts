import type { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { ByteOrder } from "./dtypeName.js";
import { oneOf, readLengths, requireCodec } from "./metadata.js";
import type { ShardLayout } from "./shardIndex.js";

/** The codecs of a zarr v3 array, sorted out: what is done to the elements, how they become bytes, what compresses these. */
export interface CodecChain {
  /** Axes of the chunk in the order in which they are stored, outermost first. */
  readonly transpose?: readonly number[] | undefined;
  readonly byteOrder: ByteOrder;
  /** Name of the compressor, `"none"` without one. */
  readonly codec: string;
  readonly shard?: ShardLayout | undefined;
}

/**
 * Reads `codecs` of zarr.json: at most one `transpose`, then `bytes` or `sharding_indexed`, then at most one compressor.
 * @throws UnsupportedCheckpointError naming a codec that is not read where it stands.
 */
export function readCodecs(member: JsonMember, chunkShape: readonly number[], path: string): CodecChain {
  const codecs = [...member.list()];
  const transpose = nameOf(codecs[0]) === "transpose" ? readTranspose(codecs.shift(), chunkShape.length) : undefined;
  const serializer = codecs.shift() ?? member.fail('a list with "bytes" or "sharding_indexed"');
  const name = nameOf(serializer);
  if (name === "sharding_indexed" && transpose === undefined && codecs.length === 0) return readSharding(serializer, chunkShape, path);
  if (name !== "bytes") throw unsupported(name, path);
  const compressor = nameOf(codecs.shift());
  if (codecs.length > 0) throw unsupported(nameOf(codecs[0]), path);
  const endian = serializer.optional("configuration")?.optional("endian");
  return {
    transpose,
    byteOrder: endian === undefined ? "little" : oneOf(endian, ["little", "big"]),
    codec: compressor === undefined ? "none" : requireCodec(compressor, path),
  };
}

const nameOf = (codec: JsonMember | undefined): string | undefined => codec?.member("name").string();

const unsupported = (name: string | undefined, path: string) =>
  new UnsupportedCheckpointError(`${path}: codec ${JSON.stringify(name)} is not read at its place in the chain`);

function readTranspose(codec: JsonMember | undefined, rank: number): number[] | undefined {
  const member = codec?.member("configuration").member("order");
  const order = member?.list().map((axis) => axis.integer());
  const isPermutation = order?.length === rank && order.every((axis) => order.indexOf(axis) === order.lastIndexOf(axis) && axis in order);
  return isPermutation ? order : member?.fail(`each axis from 0 to ${rank - 1} once`);
}

function readSharding(codec: JsonMember, shardShape: readonly number[], path: string): CodecChain {
  const configuration = codec.member("configuration");
  const member = configuration.member("chunk_shape");
  const chunkShape = readLengths(member, 1);
  const divides = chunkShape.length === shardShape.length && chunkShape.every((length, axis) => (shardShape[axis] ?? 0) % length === 0);
  if (!divides) member.fail(`lengths that divide the shard's [${shardShape.join(", ")}]`);
  requireIndexCodecs(configuration.member("index_codecs"), path);
  const inner = readCodecs(configuration.member("codecs"), chunkShape, path);
  if (inner.shard !== undefined) throw new UnsupportedCheckpointError(`${path}: shards within shards are not read`);
  const location = configuration.optional("index_location");
  return {
    ...inner,
    shard: {
      chunkShape,
      chunksPerShard: chunkShape.map((length, axis) => (shardShape[axis] ?? 0) / length),
      indexLocation: location === undefined ? "end" : oneOf(location, ["start", "end"]),
    },
  };
}

/** The index is little endian with a CRC-32C, as TensorStore writes it. */
function requireIndexCodecs(member: JsonMember, path: string): void {
  const [bytes, checksum, ...more] = member.list();
  const endian = bytes?.optional("configuration")?.optional("endian")?.string() ?? "little";
  if (nameOf(bytes) === "bytes" && endian === "little" && nameOf(checksum) === "crc32c" && more.length === 0) return;
  throw new UnsupportedCheckpointError(`${path}: a shard index is read as little-endian bytes with crc32c only`);
}
