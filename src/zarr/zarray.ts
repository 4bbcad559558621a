import { dtypes } from "../arrays/dtypes.js";
import { type JsonValue, parseJson } from "../bytes/json.js";
import { JsonMember } from "../bytes/jsonMember.js";
import { UnsupportedCheckpointError } from "../errors.js";
import type { Compression } from "./compression.js";
import { parseV2Dtype } from "./dtypeName.js";
import { parseFillValue } from "./fillValue.js";
import { type ArrayMetadata, checkSizes, oneOf, readLengths, requireCodec } from "./metadata.js";
import { type RawDocument, rawV2Dtypes } from "./rawDocument.js";

/**
 * Parses `.zarray` of zarr v2: the members that TensorStore requires, unknown ones ignored, in the compressor too.
 * @throws CorruptCheckpointError for members that are missing or of a wrong type, UnsupportedCheckpointError for a dtype,
 * compressor or filter that is not read.
 */
export function parseZarray(bytes: Uint8Array, path: string): ArrayMetadata {
  const root = new JsonMember(path, "the array's metadata", parseJson(bytes, path));
  if (root.integerAt("zarr_format") !== 2) root.member("zarr_format").fail("2");
  const shape = readLengths(root.member("shape"), 0);
  const chunks = readLengths(root.member("chunks"), 1);
  if (chunks.length !== shape.length) root.member("chunks").fail(`${shape.length} lengths, as in shape`);
  const { dtype, byteOrder } = parseV2Dtype(readDtypeName(root, path), path);
  const order = oneOf(root.member("order"), ["C", "F"]);
  const separator = Object.hasOwn(root.object(), "dimension_separator") ? oneOf(root.member("dimension_separator"), [".", "/"]) : ".";
  requireNoFilters(root, path);
  const transposed = order === "F" && shape.length > 1;
  const metadata: Omit<ArrayMetadata, "fill"> = {
    spec: { shape, dtype },
    grid: { shape, chunkShape: chunks, keyOf: (indices) => indices.join(separator) || "0" },
    compression: readCompression(root, path),
    byteOrder,
    transposed,
    fillIsNull: required(root, "fill_value") === null,
    document: transposed ? rawDocument(shape, chunks, rawV2Dtypes[dtypes[dtype].itemsize], separator) : undefined,
  };
  checkSizes(metadata, path);
  return {
    ...metadata,
    fill: parseFillValue({ value: required(root, "fill_value"), member: root.member("fill_value"), dtype, byteOrder, path }),
  };
}

function rawDocument(
  shape: readonly number[],
  chunks: readonly number[],
  dtype: (typeof rawV2Dtypes)[keyof typeof rawV2Dtypes],
  separator: "." | "/",
): RawDocument {
  return {
    zarr_format: 2,
    shape,
    chunks,
    dtype,
    order: "F",
    compressor: null,
    fill_value: null,
    filters: null,
    dimension_separator: separator,
  };
}

/** A member that may be null but not absent. */
function required(root: JsonMember, name: string): JsonValue {
  const value = root.object()[name];
  return value === undefined ? root.member(name).fail("a value or null") : value;
}

function readDtypeName(root: JsonMember, path: string): string {
  if (!Array.isArray(root.object().dtype)) return root.stringAt("dtype");
  throw new UnsupportedCheckpointError(`${path}: structured dtypes are not read, and no JAX array is saved with one`);
}

function requireNoFilters(root: JsonMember, path: string): void {
  if (required(root, "filters") === null) return;
  const names = root
    .member("filters")
    .list()
    .map((filter) => JSON.stringify(filter.member("id").string()));
  if (names.length === 0) return;
  throw new UnsupportedCheckpointError(
    `${path}: filters are not read, and this array has ${names.join(", ")}: write it again with "filters": null, as Orbax and TensorStore do`,
  );
}

const readCompression = (root: JsonMember, path: string): Compression =>
  required(root, "compressor") === null ? [] : [requireCodec(root.member("compressor").stringAt("id"), path)];
