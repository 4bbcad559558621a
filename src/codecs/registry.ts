import type { Codec } from "./codec.js";
import { lazyCodec } from "./lazyCodec.js";
import { none } from "./none.js";
import { zstd } from "./zstd.js";

const others = [
  /* @__PURE__ */ lazyCodec("gzip", async () => (await import("./deflate.js")).gzip),
  /* @__PURE__ */ lazyCodec("zlib", async () => (await import("./deflate.js")).zlib),
  /* @__PURE__ */ lazyCodec("blosc", async () => (await import("./blosc.js")).blosc),
  none,
];

const codecs: ReadonlyMap<string, Codec> = /* @__PURE__ */ new Map([zstd, ...others].map((codec) => [codec.name, codec]));

/** The codec that zarr metadata calls by this name (`zstd`, `gzip`, `zlib`, `blosc`), or `none` for stored bytes. */
export const codecNamed = (name: string): Codec | undefined => codecs.get(name);
