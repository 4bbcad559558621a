import { formatJson } from "../bytes/formatJson.js";
import { formatSortedJson } from "../bytes/formatSortedJson.js";

/**
 * All of an array on the first device of whatever platform restores it, as the JSON text that `_sharding` holds. A single device is
 * named by platform, so that one written for a CPU fails on a GPU; this form Orbax 0.5.21 to 0.12.8 take everywhere.
 */
export const firstDevice: string = /* @__PURE__ */ formatJson({
  sharding_type: "NamedSharding",
  shape: [1],
  axis_names: ["d"],
  partition_spec: [],
  device_mesh: { mesh: [{ id: 0 }] },
});

/** Writes `_sharding` as Orbax does, byte for byte: the JSON text of each `jax.Array`'s sharding by param name. */
export const formatSharding = (shardings: ReadonlyMap<string, string>): string =>
  formatSortedJson(new Map(Array.from(shardings, ([name, sharding]) => [base64url(name), sharding])));

/** Base64 of the text's UTF-8, with `-` and `_`, padded: Orbax's keys, as a `/` would part a JSON pointer. */
function base64url(text: string): string {
  const characters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte));
  return btoa(characters.join("")).replaceAll("+", "-").replaceAll("/", "_");
}
