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
