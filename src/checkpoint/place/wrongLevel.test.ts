import { describe, expect, it } from "vitest";
import { memoryStorage } from "../../storage/memory.js";
import { filesOfStep } from "../fixtureSteps.testing.js";
import { openCheckpoint } from "../openCheckpoint.js";

const text = (content: string) => new TextEncoder().encode(content);
const item = [...filesOfStep("plain-orbax", 1)].flatMap(([path, bytes]) =>
  path.startsWith("1/default/") ? [[path.slice("1/default/".length), bytes] as const] : [],
);

/** A folder with copies of an item, in these folders, and some other files. */
function folder(items: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const copies = items.flatMap((name) => item.map(([path, bytes]) => [`${name}/${path}`, bytes] as const));
  return memoryStorage(new Map([...copies, ...Object.entries(files).map(([path, content]) => [path, text(content)] as const)]));
}

const v2 = '{"zarr_format": 2}';

describe("what is recognised and not read says what it is:", () => {
  it.each([
    ["a pickled item", { "state.pkl": "" }, /memory is a pickled item, which is not read/],
    ["safetensors", { "model.safetensors": "", "config.json": "{}" }, /memory is safetensors, not Orbax/],
    ["a group of zarr v2", { ".zgroup": v2, "a/.zarray": "{}" }, /memory is a plain zarr group/],
    ["a group of zarr v3", { "zarr.json": '{"zarr_format": 3, "node_type": "group"}' }, /memory is a plain zarr group/],
    ["a protobuf message", { "state.pbtxt": "" }, /memory is a protobuf message/],
    ["an item of a step", { "1/_CHECKPOINT_METADATA": "{}", "1/it/state.pickle": "" }, /item "it" of memory\/1 is a pickled item/],
    ["a step that is a file of weights", { "1/model.safetensors": "" }, /memory\/1 is safetensors, not Orbax/],
    [
      "an item by the class that wrote it",
      { _CHECKPOINT_METADATA: '{"item_handlers": {"p": "a.proto_checkpoint_handler.ProtoCheckpointHandler"}}', "p/x": "" },
      /item "p" of memory is a protobuf message/,
    ],
    [
      "a step whose items are unfinished",
      { "1/_CHECKPOINT_METADATA": "{}", "1/default.orbax-checkpoint-tmp-3/_METADATA": "{}" },
      /memory\/1 is an unfinished step: the saves of its items did not end \(default.orbax-checkpoint-tmp-3\)/,
    ],
    ["an item of a kind that nothing tells", { _CHECKPOINT_METADATA: "{}", "p/x": "" }, /item "p" of memory is of an unknown kind/],
  ] as const)("%s", async (_, files, message) => {
    await expect(openCheckpoint(folder([], files))).rejects.toMatchObject({
      name: "UnsupportedCheckpointError",
      message: expect.stringMatching(message),
    });
  });

  it("a folder that is called like an unfinished save", async () => {
    const { read, list } = folder(["default"]);
    await expect(openCheckpoint({ name: "runs/7.orbax-checkpoint-tmp", read, list })).rejects.toMatchObject({
      name: "UnsupportedCheckpointError",
      message: expect.stringMatching(/7.orbax-checkpoint-tmp is an unfinished step/),
    });
  });
});

describe("a wrong level says which is right:", () => {
  it.each([
    ["a folder above roots", folder(["a/1/default", "b/2/default"]), /memory is above the checkpoints: give one.*: "a", "b"$/],
    [
      "a folder above steps with names of their own",
      folder([], { "a/_CHECKPOINT_METADATA": "{}", "a/x/metadata": "{}" }),
      /above the checkpoints.*"a"$/,
    ],
    [
      "a folder above roots that are numbers",
      folder(["0/5/default", "1/5/default"]),
      /memory is above the folders that hold steps: give one of them, such as "1"/,
    ],
    [
      "data files",
      folder([], { "0123456789abcdef0123456789abcdef": "" }),
      /memory is the data files of a database: give the folder of the item, above it/,
    ],
    ["side files", folder([], { process_0: "" }), /memory is the folder array_metadatas of an item/],
  ] as const)("%s", async (_, storage, message) => {
    await expect(openCheckpoint(storage)).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(message) });
  });
});

describe("where nothing is, the error says what was looked for:", () => {
  it.each([
    ["an empty folder", folder([]), {}, /no checkpoint under memory; the folder is empty, or is not there/],
    ["other files", folder([], { "README.md": "" }), {}, /under memory; it holds "README.md", none of which belongs to a checkpoint/],
    ["other files with numbers", folder([], { events_17: "text", empty_18: "" }), {}, /it holds "empty_18", "events_17", none/],
    ["folders of something else", folder([], { "src/a.ts": "" }), {}, /it holds "src", none of which is a step or an item/],
    ["no such step", folder(["1/default", "2/default"]), { step: 3 }, /no checkpoint at step 3 under memory; it holds steps 1 and 2/],
    ["a step, but another was asked for", folder([], {}), { step: 3 }, /no checkpoint at step 3 under memory; it holds no steps/],
  ] as const)("%s", async (_, storage, options, message) => {
    await expect(openCheckpoint(storage, options)).rejects.toMatchObject({
      name: "CheckpointNotFoundError",
      directory: "memory",
      message: expect.stringMatching(message),
    });
  });

  it("a step without items", async () => {
    await expect(openCheckpoint(folder([], { "1/_CHECKPOINT_METADATA": "{}" }))).rejects.toThrow(/memory\/1 holds no item/);
  });
});

describe("arrays that no file describes", () => {
  const zarray = JSON.stringify({
    zarr_format: 2,
    shape: [2],
    chunks: [2],
    dtype: "|u1",
    compressor: null,
    fill_value: null,
    filters: null,
    order: "C",
  });

  it.each([["params.w"], ["layer_0"]])("are an item, also where one is called %s", async (name) => {
    const opened = await openCheckpoint(folder([], { [`${name}/.zarray`]: zarray, [`${name}/0`]: "ab" }));
    expect(opened).toMatchObject({ kind: "item", layout: { tree: "names", arrays: ["directories"] } });
    expect(await opened.restore()).toMatchObject({ [name]: { data: new Uint8Array([97, 98]) } });
  });

  it("are an array where there is one alone", async () => {
    const opened = await openCheckpoint(folder([], { ".zarray": zarray, "0": "ab" }));
    expect(opened).toMatchObject({ kind: "array", item: undefined, leaves: [{ path: "", shape: [2] }] });
    expect(await opened.restore()).toMatchObject({ dtype: "uint8", data: new Uint8Array([97, 98]) });
  });
});
