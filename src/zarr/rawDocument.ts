/**
 * Names that zarrita has for elements of so many bytes whose meaning is not its business: it knows no bfloat16, float8 or
 * int4 and nothing of 16 bytes but strings. `arrays/dtypes.ts` gives the bits their meaning.
 */
export const rawV2Dtypes = { 1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8", 16: "|S16" } as const;

/** The same in zarrita's inner words, which are zarr v3's and `v2:S16` for a string. */
export const rawV3Dtypes = { 1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "v2:S16" } as const;

/** Metadata that were relabelled for zarrita, without compressors: those are decoded before. */
export type RawDocument = RawV2Document | RawV3Document;

interface RawV2Document {
  readonly zarr_format: 2;
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly dtype: (typeof rawV2Dtypes)[keyof typeof rawV2Dtypes];
  readonly order: "C" | "F";
  readonly compressor: null;
  readonly fill_value: null;
  readonly filters: null;
  readonly dimension_separator: "." | "/";
}

interface RawV3Document {
  readonly zarr_format: 3;
  readonly node_type: "array";
  readonly shape: readonly number[];
  readonly data_type: (typeof rawV3Dtypes)[keyof typeof rawV3Dtypes];
  readonly chunk_grid: { readonly name: "regular"; readonly configuration: { readonly chunk_shape: readonly number[] } };
  readonly chunk_key_encoding: { readonly name: string; readonly configuration?: { readonly separator: string } };
  readonly codecs: readonly { readonly name: string; readonly configuration?: unknown }[];
  readonly fill_value: 0;
}
