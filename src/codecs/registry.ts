import { blosc } from "./blosc.js";
import type { Codec } from "./codec.js";
import { gzip, zlib } from "./deflate.js";
import { none } from "./none.js";
import { zstd } from "./zstd.js";

const codecs: ReadonlyMap<string, Codec> = /* @__PURE__ */ new Map([zstd, gzip, zlib, blosc, none].map((codec) => [codec.name, codec]));

/** The codec that zarr metadata calls by this name (`zstd`, `gzip`, `zlib`, `blosc`), or `none` for stored bytes. */
export const codecNamed = (name: string): Codec | undefined => codecs.get(name);
