import { expect, test } from "vitest";
import type { ZarrArray } from "../../zarr/openArray.js";
import { leafInfos } from "./leafInfo.js";
import type { StoredLeaf } from "./leaves.js";

const array = {
  name: "w",
  spec: { dtype: "bfloat16", shape: [2, 3] },
  chunkShape: [2, 2],
  chunkCount: 2,
  codec: "zstd",
} as unknown as ZarrArray;

const leaves: readonly StoredLeaf[] = [
  { kind: "jax.Array", path: "a/w", array, keyImpl: undefined },
  { kind: "empty", path: "none", valueType: "None" },
  { kind: "string", path: "", value: "grün" },
];

test("describes arrays and strings, and leaves empty nodes out", () => {
  const described = { dtype: "bfloat16", shape: [2, 3], bytes: 12, chunkShape: [2, 2], chunks: 2, codec: "zstd" };
  expect(leafInfos(leaves)).toEqual([
    { path: "a/w", kind: "jax.Array", keyImpl: undefined, ...described },
    { path: "", kind: "string", bytes: 5 },
  ]);
});

test("tells of leaves that have one array", () => {
  const bound = { name: "a.b", spec: { dtype: "bool", shape: [] }, chunkShape: [], chunkCount: 1, codec: "none" } as unknown as ZarrArray;
  const leaf = (path: string, array: ZarrArray): StoredLeaf => ({ kind: "np.ndarray", path, array, keyImpl: undefined });
  const infos = leafInfos([leaf("a/b", bound), leaf("w", array), leaf("a.b", bound)], "item");
  expect(infos.map(({ sharedWith }) => sharedWith)).toEqual([["item/a.b"], undefined, ["item/a/b"]]);
});

test("puts the item before each path, and alone for a bare leaf", () => {
  expect(leafInfos(leaves, "model").map(({ path }) => path)).toEqual(["model/a/w", "model"]);
});
