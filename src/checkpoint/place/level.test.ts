import { describe, expect, it } from "vitest";
import type { Folder } from "./explorer.js";
import { itemKindOf } from "./itemKind.js";
import { levelOf } from "./level.js";

/** A folder of these names; those of folders end with a slash. */
const folderOf = (...names: readonly string[]): Folder => ({
  files: new Set(names.filter((name) => !name.endsWith("/"))),
  directories: new Set(names.filter((name) => name.endsWith("/")).map((name) => name.slice(0, -1))),
  isListed: true,
});

describe("a folder is", () => {
  it.each([
    ["an item", ["_METADATA", "manifest.ocdbt", "d/", "ocdbt.process_0/"], { kind: "item", item: "pytree", isDirect: false }],
    ["a direct checkpoint", ["_METADATA", "_CHECKPOINT_METADATA", "d/"], { kind: "item", item: "pytree", isDirect: true }],
    ["an item without _METADATA", ["checkpoint", "params.w/"], { kind: "item", item: "pytree", isDirect: false }],
    ["a database", ["manifest.ocdbt", "d/"], { kind: "item", item: "pytree", isDirect: false }],
    ["an unmerged item", ["ocdbt.process_0/", "ocdbt.process_2/"], { kind: "item", item: "pytree", isDirect: false }],
    ["an array of zarr v2", [".zarray", "0.0"], { kind: "item", item: "array", isDirect: false }],
    ["an array of zarr v3", ["zarr.json", "c/"], { kind: "item", item: "array", isDirect: false }],
    ["an item that is one array", ["checkpoint/", "_sharding"], { kind: "item", item: "array", isDirect: false }],
    ["a random key", ["jax_random_key/", "jax_random_key_metadata/"], { kind: "item", item: "key", isDirect: false }],
    ["a group", [".zgroup", "a/"], { kind: "item", item: "group", isDirect: false }],
    ["a JSON item", ["metadata", "commit_success.txt"], { kind: "item", item: "json", isDirect: false }],
    ["a JSON item of v1", ["data.json"], { kind: "item", item: "json", isDirect: false }],
    ["safetensors", ["model.safetensors", "config.json"], { kind: "item", item: "safetensors", isDirect: false }],
    ["pickled", ["state.pkl"], { kind: "item", item: "pickled", isDirect: false }],
    ["a step", ["_CHECKPOINT_METADATA", "default/"], { kind: "step" }],
    ["a step of v1", ["orbax.checkpoint", "state/"], { kind: "step" }],
    ["a step whose items have numbers", ["_CHECKPOINT_METADATA", "layer_1/"], { kind: "step" }],
    ["a root", ["9/", "10/", "metadata/"], { kind: "root", steps: [expect.objectContaining({ step: 9 }), expect.anything()] }],
    ["a root of flax", ["checkpoint_5"], { kind: "root", steps: [{ step: 5, name: "checkpoint_5" }] }],
    ["a root whose saves did not end", ["9.orbax-checkpoint-tmp/"], { kind: "root", steps: [] }],
    ["a folder of folders", ["a/", "b/"], { kind: "folders" }],
    ["empty", [], { kind: "nothing" }],
    ["of something else", ["README.md"], { kind: "nothing" }],
    ["a part of a database", ["0123456789abcdef0123456789abcdef"], { kind: "part" }],
    ["a part of an item", ["process_0", "process_1"], { kind: "part" }],
  ] as const)("%s: %j", (_, names, level) => {
    expect(levelOf(folderOf(...names), "")).toMatchObject(level);
  });
});

describe("an item is", () => {
  const handler = (name: string) => `orbax.checkpoint._src.handlers.${name}`;
  it.each([
    ["pytree", [], handler("pytree_checkpoint_handler.PyTreeCheckpointHandler")],
    ["pytree", ["commit_success.txt"], handler("standard_checkpoint_handler.StandardCheckpointHandler")],
    ["json", [], handler("json_checkpoint_handler.JsonCheckpointHandler")],
    ["json", [], "orbax.checkpoint.experimental.v1._src.handlers.json_handler.MetricsHandler"],
    ["array", [], handler("array_checkpoint_handler.ArrayCheckpointHandler")],
    ["key", [], handler("random_key_checkpoint_handler.JaxRandomKeyCheckpointHandler")],
    ["proto", ["metadata"], handler("proto_checkpoint_handler.ProtoCheckpointHandler")],
    ["pytree", ["_METADATA"], handler("json_checkpoint_handler.JsonCheckpointHandler")],
    ["unknown", ["b.bin"], "my.own.Handler"],
    ["empty", ["commit_success.txt"], undefined],
    ["unknown", ["deeper/"], undefined],
    ["json", ["metrics"], undefined],
    ["pickled", ["a.pkl"], undefined],
    ["proto", ["a.pbtxt"], undefined],
  ] as const)("%s: %j by %s", (kind, names, by) => {
    expect(itemKindOf(folderOf(...names), "metrics", by)).toBe(kind);
  });
});
