import type { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { Compression } from "./compression.js";
import type { ByteOrder } from "./dtypeName.js";
import { oneOf, readLengths, requireCodec } from "./metadata.js";
import type { ShardLayout } from "./shardIndex.js";

/** The codecs of a zarr v3 array, sorted out: what is done to the elements, how they become bytes, what is done to these. */
export interface CodecChain {
  /** Axes of the array in the order in which a chunk, where there are shards the innermost one, has them, outermost first. */
  readonly transpose?: readonly number[] | undefined;
  readonly byteOrder: ByteOrder;
  /** Of a chunk; where there are shards, of the innermost one. */
  readonly compression: Compression;
  readonly shard?: ShardLayout | undefined;
}

/** Chunks that codecs are applied to. */
interface ChunkAxes {
  /** Their lengths, along the array's axes. */
  readonly shape: readonly number[];
  /** The array's axes in the order in which the codecs meet them, outermost first. */
  readonly order: readonly number[];
}

/**
 * Reads `codecs` of zarr.json: any number of `transpose`, then `bytes` or `sharding_indexed`, then compressors and `crc32c` in any order.
 * @throws UnsupportedCheckpointError naming a codec that is not read where it stands.
 */
export const readCodecs = (member: JsonMember, chunkShape: readonly number[], path: string): CodecChain =>
  readChain(member, { shape: chunkShape, order: [...chunkShape.keys()] }, path);

function readChain(member: JsonMember, chunk: ChunkAxes, path: string): CodecChain {
  const codecs = [...member.list()];
  let { order } = chunk;
  let serializer = codecs.shift();
  for (; serializer !== undefined && nameOf(serializer) === "transpose"; serializer = codecs.shift()) order = transposed(order, serializer);
  serializer ??= member.fail('a list with "bytes" or "sharding_indexed"');
  const name = nameOf(serializer);
  if (name !== "sharding_indexed" && name !== "bytes")
    throw new UnsupportedCheckpointError(
      `${path}: codec ${JSON.stringify(name)} is not read before elements are bytes, only "transpose", "bytes" and "sharding_indexed": write the array again with these`,
    );
  const compression = codecs.map((codec) => requireCodec(codec.member("name").string(), path));
  if (name === "sharding_indexed") return readSharding(serializer, { ...chunk, order }, compression, path);
  return { transpose: unlessInOrder(order), byteOrder: byteOrderOf(serializer), compression };
}

function byteOrderOf(bytes: JsonMember): ByteOrder {
  const endian = bytes.optional("configuration")?.optional("endian");
  return endian === undefined ? "little" : oneOf(endian, ["little", "big"]);
}

const nameOf = (codec: JsonMember | undefined): string | undefined => codec?.member("name").string();

/** Undefined for the order that the array itself has. */
const unlessInOrder = (order: readonly number[]): readonly number[] | undefined =>
  order.every((axis, place) => axis === place) ? undefined : order;

/** The axes as a `transpose` leaves them: by their numbers, or all reversed for `"F"`, which TensorStore takes, too. */
function transposed(axes: readonly number[], codec: JsonMember): readonly number[] {
  const configuration = codec.member("configuration");
  if (configuration.object().order === "C") return axes;
  if (configuration.object().order === "F") return axes.toReversed();
  const member = configuration.member("order");
  const order = member.integers();
  const isPermutation = order.length === axes.length && axes.every((_, place) => order.includes(place));
  return isPermutation ? order.map((place) => axes[place] ?? 0) : member.fail(`each axis from 0 to ${axes.length - 1} once`);
}

function readSharding(codec: JsonMember, { shape, order }: ChunkAxes, outer: Compression, path: string): CodecChain {
  const configuration = codec.member("configuration");
  const member = configuration.member("chunk_shape");
  const lengths = readLengths(member, 1);
  const shardShape = order.map((axis) => shape[axis] ?? 0);
  const divides = lengths.length === order.length && lengths.every((length, place) => (shardShape[place] ?? 0) % length === 0);
  if (!divides) member.fail(`lengths that divide the shard's [${shardShape.join(", ")}]`);
  const chunkShape = shape.map((_, axis) => lengths[order.indexOf(axis)] ?? 1);
  const inner = readChain(configuration.member("codecs"), { shape: chunkShape, order }, path);
  const location = configuration.optional("index_location");
  return {
    ...inner,
    shard: {
      chunkShape,
      chunksPerShard: chunkShape.map((length, axis) => (shape[axis] ?? 0) / length),
      indexOrder: unlessInOrder(order),
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
