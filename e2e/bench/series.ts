import type { ContenderName, Place, SetName } from "./page/protocol.js";

/** Whether the page is cross-origin isolated (COOP and COEP), so that it may share memory with its workers. */
export type Isolation = "isolated" | "plain";

/** One contender at one task; what is compared are two series. */
export interface Series {
  readonly contender: ContenderName;
  readonly place: Place;
  readonly set: SetName;
  readonly isolation: Isolation;
}

/** A series in an isolated page, unless it says otherwise. */
export const series = (contender: ContenderName, place: Place, set: SetName, isolation: Isolation = "isolated"): Series => ({
  contender,
  place,
  set,
  isolation,
});

/** Text that tells series apart, such as `ours, opfs, f32-64`. */
export const seriesName = ({ contender, place, set, isolation }: Series): string =>
  [contender, place, set, ...(isolation === "plain" ? ["without COOP/COEP"] : [])].join(", ");

/** What a set is, for readers. */
export const setTitles: Readonly<Record<SetName, string>> = {
  "save-256m": "save of 256 MiB, 64 arrays",
  "save-512m": "save of 512 MiB, 64 arrays",
  "save-512m-array": "save of 512 MiB, one array",
  "f32-64": "64 arrays of 4 MiB",
  "f32-one-frame": "256 MiB in one zstd frame",
  "f32-chunks": "256 MiB in chunks of 4 MiB",
  "bf16-one-frame": "256 MiB of bfloat16 in one zstd frame",
  small: "2,048 arrays of 16 KiB",
  "64m-one-frame": "64 MiB in one zstd frame",
  "64m-chunks": "64 MiB in chunks of 4 MiB",
  "1g-one-frame": "1020 MiB in one zstd frame",
  "1g-chunks": "1020 MiB in chunks of 4 MiB",
  minilm: "MiniLM-L6, 91 MB of float32",
};

export const placeTitles: Readonly<Record<Place, string>> = {
  opfs: "OPFS",
  http: "HTTP",
  slow: "HTTP, 20 ms and 50 MB/s",
};

export const contenderTitles: Readonly<Record<ContenderName, string>> = {
  ours: "orbax-webgpu",
  "mirror-first": "orbax-webgpu, through an empty mirror",
  "mirror-second": "orbax-webgpu, through a mirror that has all",
  floor: "raw floor (uncompressed)",
  naive: "naive (uncompressed)",
  zarrita: "zarrita, one by one",
  "zarrita-together": "zarrita, all at once",
  safetensors: "safetensors (uncompressed)",
};
