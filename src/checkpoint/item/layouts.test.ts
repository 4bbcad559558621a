import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { differences } from "../../../e2e/fixtures/expected.js";
import { StorageError } from "../../errors.js";
import { leafOf, manifestOf } from "../../ocdbt/handmade.testing.js";
import { openOcdbt } from "../../ocdbt/open.js";
import { openManifest } from "../../ocdbt/openManifest.js";
import { memoryStorage } from "../../storage/memory.js";
import { nodeStorage } from "../../storage/node.js";
import { subfolder } from "../../storage/subfolder.js";
import { Pace } from "../../tasks/pace.js";
import { type Files, filesOfStep, fixtureFolder } from "../fixtureSteps.testing.js";
import { entriesOf, jsonBytes, treeEntry } from "../handmadeStep.testing.js";
import { restoredLeaves, sameLeaves } from "../restoredLeaves.testing.js";
import { leafInfos } from "./leafInfo.js";
import { openedItem, restoredItem, unlisted } from "./openedItems.testing.js";
import { openItem } from "./openItem.js";

const item = "1200/model";
const digits = filesOfStep("digits", 1200);
const whole = restoredLeaves(await restoredItem(await openedItem(digits, item)));

/** The fixture's files, each by another path or left out. */
const moved = (rename: (path: string) => string | undefined): Files =>
  new Map([...digits].flatMap(([path, bytes]) => (rename(path) === undefined ? [] : [[rename(path) ?? "", bytes]])));

/** What a save leaves that died before it merged its database. */
const unmerged = (process = "0") =>
  moved((path) =>
    path.startsWith(`${item}/d/`) || path === `${item}/manifest.ocdbt`
      ? undefined
      : path.replace("ocdbt.process_0", `ocdbt.process_${process}`),
  );

/** The same arrays without a database: its keys are the files. */
async function inFolders(): Promise<Files> {
  const database = await openOcdbt(subfolder(memoryStorage(digits), item));
  const files = moved((path) =>
    path.startsWith(`${item}/`) && /\/(?:d|ocdbt[^/]*|manifest\.ocdbt)(?:\/|$)/.test(path) ? undefined : path,
  );
  for await (const key of database?.keys("") ?? []) files.set(`${item}/${key}`, (await database?.read(key)) ?? new Uint8Array());
  const metadata = JSON.parse(new TextDecoder().decode(files.get(`${item}/_METADATA`)));
  return files.set(`${item}/_METADATA`, jsonBytes({ ...metadata, use_ocdbt: false }));
}

const cannotList = () => new StorageError({ path: "", reason: "cannot-list", message: "no list" });

test("an item of today", async () => {
  const { layout, customMetadata } = await openedItem(digits, item);
  expect(layout).toEqual({ tree: "metadata", arrays: ["ocdbt"], databases: "single", zarr: [2] });
  expect(customMetadata).toBe(null);
});

test.each(["0", "7", "replica_0", "a1"])("a database of process %s that was not merged", async (process) => {
  const index = await openedItem(unmerged(process), item);
  expect(index.layout).toEqual({ tree: "metadata", arrays: ["ocdbt"], databases: "processes", zarr: [2] });
  expect(sameLeaves(restoredLeaves(await restoredItem(index)), whole)).toBe(true);
});

test("databases of processes that hold the same keys, and of one that holds others", async () => {
  const files = new Map(unmerged());
  for (const [path, bytes] of unmerged("12")) files.set(path, bytes);
  const extra = leafOf(entriesOf({ extra: {} }));
  files.set(`${item}/ocdbt.process_3/manifest.ocdbt`, manifestOf(extra)).set(`${item}/ocdbt.process_3/root`, extra);
  const metadata = JSON.parse(new TextDecoder().decode(files.get(`${item}/_METADATA`)));
  metadata.tree_metadata.extra = treeEntry(["tree", "extra"]);
  const index = await openedItem(files.set(`${item}/_METADATA`, jsonBytes(metadata)), item);
  expect(restoredLeaves(await restoredItem(index))).toHaveLength(whole.length + 1);
});

test("where the place cannot list, processes are counted from 0", async () => {
  const index = await openedItem(unlisted(unmerged(), cannotList), item);
  expect(sameLeaves(restoredLeaves(await restoredItem(index)), whole)).toBe(true);
  await expect(openedItem(unlisted(unmerged("1"), cannotList), item)).rejects.toMatchObject({ path: `${item}/manifest.ocdbt` });
});

test("a folder for each array", async () => {
  const index = await openedItem(await inFolders(), item);
  expect(index.layout).toEqual({ tree: "metadata", arrays: ["directories"], databases: undefined, zarr: [2] });
  expect(sameLeaves(restoredLeaves(await restoredItem(index)), whole)).toBe(true);
});

test("arrays whose .zarray was lost are listed, all of them", async () => {
  const files = await inFolders();
  for (const path of files.keys()) if (/(?:hidden1\.bias.*|out\..*)\.zarray$/.test(path)) files.delete(path);
  await expect(openedItem(files, item)).rejects.toMatchObject({
    name: "CorruptCheckpointError",
    path: `${item}/tree.hidden1.bias.value/.zarray`,
    expected: "array metadata of 6 leaves",
    received: 'none for "tree/hidden1/bias/value", "tree/out/bias/value", "tree/out/kernel/value"',
    message: expect.stringContaining("dot-files"),
  });
});

test("where many are lost, few folders are looked into for a database", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `w${index}`);
  const tree = { tree_metadata: Object.fromEntries(names.map((name) => [name, treeEntry([name])])) };
  const chunks = names.map((name) => [`i/${name}/0`, new Uint8Array(4)] as const);
  const storage = memoryStorage(new Map([["i/_METADATA", jsonBytes(tree)], ...chunks]));
  const asked: string[] = [];
  const watched = {
    list: storage.list,
    read: (path: string) => {
      asked.push(path);
      return storage.read(path);
    },
  };
  await expect(openedItem(watched, "i")).rejects.toMatchObject({ received: expect.stringMatching(/^none for "w0".* and 80 more$/) });
  expect(asked.filter((path) => path.endsWith("manifest.ocdbt"))).toHaveLength(1 + 8);
});

test.each([
  ["a database", async () => digits],
  ["the databases of processes", async () => unmerged()],
  ["folders", inFolders],
])("without _METADATA the names of the arrays in %s make a flat tree", async (_, files) => {
  const index = await openedItem(new Map([...(await files())].filter(([path]) => !path.endsWith("_METADATA"))), item);
  expect(index.layout.tree).toBe("names");
  const names = whole.map(({ path }) => path.slice(1).replaceAll("/", "."));
  expect(index.leaves.map(({ path }) => path)).toEqual(names);
  const restored = restoredLeaves(await restoredItem(index));
  const flat = whole.map((leaf) => ({ ...leaf, path: `/${leaf.path.slice(1).replaceAll("/", ".")}` }));
  expect(sameLeaves(restored, flat)).toBe(true);
});

test("names are in the order of a tree: numbers by their value", async () => {
  const root = leafOf(entriesOf({ "l.10.a": {}, "l.9": {}, "l.x": {}, "l.2b": {}, "l.10": {}, l: {} }));
  const index = await openedItem(new Map(Object.entries({ "i/manifest.ocdbt": manifestOf(root), "i/root": root })), "i");
  expect(index.leaves.map(({ path }) => path)).toEqual(["tree.l", "tree.l.9", "tree.l.10", "tree.l.10.a", "tree.l.2b", "tree.l.x"]);
});

test("a folder whose .zarray was lost, or is not listed, is an array still", async () => {
  const files = new Map([...(await inFolders())].filter(([path]) => !path.endsWith("_METADATA") && !path.endsWith(".zarray")));
  await expect(openedItem(files, item)).rejects.toMatchObject({ received: expect.stringContaining('"tree.hidden1.bias.value"') });
});

test("folders within folders without end are an error, and an abort is heard in them", async () => {
  const endless = { read: async () => undefined, list: async () => ({ files: [], directories: ["a"] }) };
  await expect(openedItem(endless, "i")).rejects.toMatchObject({
    name: "CorruptCheckpointError",
    expected: expect.stringContaining("64 folders"),
  });
  const controller = new AbortController();
  const stopping = {
    ...endless,
    list: async () => {
      controller.abort(new Error("stop"));
      return endless.list();
    },
  };
  await expect(openItem("i", stopping, "i", {}, new Pace(), { signal: controller.signal })).rejects.toThrow("stop");
});

test("a bare array", async () => {
  const files = await inFolders();
  const folder = `${item}/tree.out.bias.value`;
  for (const place of [files, unlisted(files, cannotList)]) {
    const index = await openedItem(place, folder);
    expect(index.layout).toEqual({ tree: "names", arrays: ["directories"], databases: undefined, zarr: [2] });
    const [leaf] = restoredLeaves(await restoredItem(index));
    expect(leaf).toEqual({ ...whole.find(({ path }) => path === "/tree/out/bias/value"), path: "" });
  }
});

test("neither a tree nor arrays", async () => {
  for (const place of [new Map([["i/file", new Uint8Array()]]), unlisted(new Map(), cannotList)])
    await expect(openedItem(place, "i")).rejects.toMatchObject({ path: "i/_METADATA", received: "no such file" });
});

test("a lost manifest is named where the tree says that there was one", async () => {
  const files = moved((path) => (/model\/(?:manifest\.ocdbt|ocdbt\.process_0\/manifest\.ocdbt)$/.test(path) ? undefined : path));
  await expect(openedItem(files, item)).rejects.toMatchObject({ path: `${item}/manifest.ocdbt`, received: "no such file" });
});

// Orbax 0.3 puts arrays with a slash in the first part of their names into databases of their own; old ones made one for each array.
test("databases in folders of their own (handmade)", async () => {
  const files: Files = new Map();
  const database = (folder: string, entries: Parameters<typeof leafOf>[0]) => {
    const root = leafOf(entries);
    files.set(`i/${folder}manifest.ocdbt`, manifestOf(root)).set(`i/${folder}root`, root);
  };
  const { "tree.x/.zarray": metadata, "tree.x/0": chunk } = entriesOf({ x: {} });
  if (metadata === undefined || chunk === undefined) throw new Error("no array");
  database("", { "top/.zarray": metadata, "top/0": chunk });
  database("lin/~/", { "w/.zarray": metadata, "w/0": chunk });
  database("n.a/", { "b/.zarray": metadata, "b/0": chunk });
  database("alone/", { ".zarray": metadata });
  const tree = [["top"], ["lin/~/w"], ["n", "a/b"], ["alone"]].map((keys) => treeEntry(keys));
  const filled = { store_array_data_equal_to_fill_value: false };
  files.set("i/_METADATA", jsonBytes({ tree_metadata: Object.fromEntries(tree.entries()), ...filled }));
  const index = await openedItem(files, "i");
  expect(index.layout.databases).toBe("folders");
  expect(restoredLeaves(await restoredItem(index)).map(({ path, spec }) => `${path} ${spec}`)).toEqual(
    ["/top", "/lin/~/w", "/n/a/b", "/alone"].map((path) => `${path} float32[4]`),
  );
  const counted = await openedItem(unlisted(files, cannotList), "i");
  expect(counted.leaves).toHaveLength(4);
  files.delete("i/_METADATA");
  files.delete("i/manifest.ocdbt");
  const named = await openedItem(files, "i");
  expect(named.leaves.map(({ path }) => path)).toEqual(["alone", "lin/~/w", "n.a/b"]);
  files.set("i/n.a/root", new Uint8Array(40));
  await expect(openedItem(files, "i")).rejects.toMatchObject({ path: "i/n.a/root" });
});

test.each([
  ["placeholders", "a leaf that was left out is nothing", []],
  ["shared-names", "leaves of one name share an array, and say so", [["a.b"], ["a/b"]]],
])("%s: %s", async (fixture, _, sharedWith) => {
  const index = await openedItem(nodeStorage(join(fixtureFolder, fixture)), "checkpoint");
  const { items } = JSON.parse(readFileSync(join(fixtureFolder, fixture, "expected.json"), "utf8"));
  expect(await differences(await restoredItem(index), items.checkpoint)).toEqual([]);
  expect(leafInfos(index.leaves).flatMap((leaf) => (leaf.sharedWith === undefined ? [] : [leaf.sharedWith]))).toEqual(sharedWith);
});

test("an older version of the database, where there is one", async () => {
  const process = `${item}/ocdbt.process_0`;
  const { content } = (await openManifest(subfolder(memoryStorage(digits), process), {})) ?? { content: { versions: [] } };
  const generations = content.versions.map(({ generation }) => generation);
  const leavesIn = async (generation: bigint) => (await openedItem(digits, process, { generation })).leaves.map(({ path }) => path);
  expect(generations.length).toBeGreaterThan(1);
  const latest = await leavesIn(generations.at(-1) ?? 0n);
  expect(latest).toHaveLength(whole.length);
  const [first = 0n] = generations;
  const older = await leavesIn(first).catch((error: unknown) => error);
  if (Array.isArray(older)) expect(older.length).toBeLessThan(latest.length);
  else expect(older).toMatchObject({ path: `${process}/_METADATA` });
  for (const [files, generation] of [
    [digits, 1000n],
    [unmerged(), 1n],
    [await inFolders(), 1n],
  ] as const)
    await expect(openedItem(files, item, { generation })).rejects.toMatchObject({ name: "CheckpointValueError" });
});

test.each<[string, object, number | null, "lost" | "filled"]>([
  ["all were stored", { store_array_data_equal_to_fill_value: true }, 7, "lost"],
  ["some may be left out", { store_array_data_equal_to_fill_value: false }, null, "filled"],
  ["Orbax before 0.10 does not say, and there is no value to fill it with", {}, null, "lost"],
  ["Orbax before 0.10 does not say, and there is one", {}, 7, "filled"],
])("a chunk that is not there, where %s", async (_, members, fill, outcome) => {
  for (const inDatabase of [true, false]) {
    const entries = entriesOf({ w: { zarray: { fill_value: fill }, chunks: {} } });
    const root = leafOf(entries);
    const metadata = entries["tree.w/.zarray"];
    const files: Files = new Map([["i/_METADATA", jsonBytes({ tree_metadata: { 0: treeEntry(["tree", "w"]) }, ...members })]]);
    if (inDatabase) files.set("i/manifest.ocdbt", manifestOf(root)).set("i/root", root);
    else files.set("i/tree.w/.zarray", metadata?.kind === "inline" ? metadata.bytes : new Uint8Array());
    const restored = restoredItem(await openedItem(files, "i"));
    if (outcome === "filled") expect(await restored).toMatchObject({ tree: { w: { data: new Float32Array(4).fill(fill ?? 0) } } });
    else await expect(restored).rejects.toMatchObject({ name: "CorruptCheckpointError", path: "i/tree.w/0" });
  }
});

test("a leaf whose path begins another's is no leaf", async () => {
  const root = leafOf(entriesOf({ a: {}, "a.b": {} }));
  const entries = { 0: treeEntry(["tree", "a"]), 1: treeEntry(["tree", "a", "b"]) };
  const index = await openedItem(
    new Map(Object.entries({ "i/_METADATA": jsonBytes({ tree_metadata: entries }), "i/manifest.ocdbt": manifestOf(root), "i/root": root })),
    "i",
    { node: "tree" },
  );
  expect(index.leaves.map(({ path }) => path)).toEqual(["a/b"]);
});

test("typed keys are told by the file of any process", async () => {
  const trees = filesOfStep("trees", 3);
  const marked = (bytes: Uint8Array) => new TextDecoder().decode(bytes).includes('"random_key_impl"');
  const [name] = [...trees].flatMap(([path, bytes]) => (path.endsWith("array_metadatas/process_0") && marked(bytes) ? [path] : []));
  const path = name?.replace("/array_metadatas/process_0", "") ?? "";
  const keysOf = async (files: Files) =>
    (await openedItem(files, path)).leaves.flatMap((leaf) => ("keyImpl" in leaf && leaf.keyImpl !== undefined ? [leaf.keyImpl] : []));
  const keys = await keysOf(trees);
  expect(keys.length).toBeGreaterThan(0);
  expect(
    await keysOf(
      new Map([...trees].map(([file, bytes]) => [file.replace("array_metadatas/process_0", "array_metadatas/process_5"), bytes])),
    ),
  ).toEqual(keys);
  expect(await keysOf(new Map([...trees].filter(([file]) => !file.includes("array_metadatas"))))).toEqual([]);
});
