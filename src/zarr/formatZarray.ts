import { dtypes } from "../arrays/dtypes.js";
import type { ArraySpec } from "../arrays/spec.js";
import { formatSortedJson } from "../bytes/formatSortedJson.js";

/** Writes `.zarray` as TensorStore does for Orbax, byte for byte. */
export function formatZarray({ shape, dtype }: ArraySpec, chunkShape: readonly number[], compression: "none" | "zstd"): string {
  return formatSortedJson(
    new Map(
      Object.entries({
        chunks: chunkShape,
        compressor:
          compression === "none"
            ? null
            : new Map<string, string | number>([
                ["id", "zstd"],
                ["level", 1],
              ]),
        dimension_separator: ".",
        dtype: dtypes[dtype].v2,
        fill_value: null,
        filters: null,
        order: "C",
        shape,
        zarr_format: 2,
      }),
    ),
  );
}
