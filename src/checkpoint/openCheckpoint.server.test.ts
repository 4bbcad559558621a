import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { differences } from "../../e2e/fixtures/expected.js";
import type { Generation } from "../../e2e/fixtures/generations.js";
import { appPage, lfsPointer, type RunningServer, type ServerOptions, startServer } from "../../e2e/server/server.mjs";
import { testClock } from "../storage/http/clock.testing.js";
import { createHttpStorage, httpStorage } from "../storage/http.js";
import { type Files, filesOfStep, fixtureFolder } from "./fixtureSteps.testing.js";
import { openCheckpoint } from "./openCheckpoint.js";
import { OrbaxCheckpointStore } from "./store.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(root: string | Files, options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const server = await startServer({ root: typeof root === "string" ? join(fixtureFolder, root) : root, ...options });
  running.push(server);
  return server;
}

const tree = { a: { dtype: "int32", shape: [8] }, b: { c: { dtype: "int32", shape: [3] } } };
const askedOf = ({ requests }: RunningServer): string[] =>
  requests.map(({ path, range }) => (range === undefined ? path : `${path} in part`));

const bucket = { index: "none" } as const;
const itemFiles = (prefix: string) =>
  ["_METADATA", "manifest.ocdbt", "d/c4303b241638c1784ef6464e92bd5c42 in part"].map((file) => prefix + file);

describe("from a server that lists", () => {
  it.each([
    ["", ["/", "/1/", "/1/_CHECKPOINT_METADATA"], "/1/default/"],
    ["/1", ["/1/", "/1/_CHECKPOINT_METADATA"], "/1/default/"],
    ["/1/default", ["/1/default/"], ""],
  ])("an address %j takes few requests until the leaves are known", async (path, finding, listed) => {
    const server = await serve("plain-orbax/checkpoints");
    const opened = await openCheckpoint(server.url + path);
    expect(opened.leaves.map((leaf) => leaf.storedBytes)).toEqual([41, 21]);
    const index = `${path}/orbax-webgpu-index.json`;
    const expected = [index, ...finding, ...(listed === "" ? [] : [listed]), ...itemFiles("/1/default/")];
    expect(askedOf(server).sort()).toEqual(expected.sort());
    server.resetRequests();
    expect(await opened.restore()).toMatchObject(tree);
    expect(askedOf(server).every((asked) => asked.endsWith("in part"))).toBe(true);
  });

  it("a step without the marker of a commit takes no more", async () => {
    const old = new Map([...filesOfStep("plain-orbax", 1)].filter(([path]) => !path.endsWith("commit_success.txt")));
    const server = await serve(old);
    await openCheckpoint(server.url);
    const asked = askedOf(server);
    expect(asked).toHaveLength(8);
    expect(new Set(asked).size).toBe(8);
  });

  it("arrays of zarr v3 in folders of their own take one file each, since the metadata says so", async () => {
    const server = await serve("generations/0.12.8/checkpoints/zarr3-directories");
    const { leaves } = await openCheckpoint(server.url);
    const asked = askedOf(server);
    expect(asked.filter((path) => path.endsWith("/zarr.json"))).toHaveLength(leaves.length);
    expect(asked.filter((path) => path.endsWith("/.zarray"))).toEqual([]);
  });

  it("a thousand leaves are known after no more", async () => {
    const server = await serve("thousand/checkpoints");
    const { leaves } = await openCheckpoint(server.url, { item: "model" });
    expect(leaves).toHaveLength(1000);
    expect(leaves.every(({ storedBytes = 0 }) => storedBytes > 0)).toBe(true);
    expect(server.requests.length).toBeLessThanOrEqual(10);
  });
});

describe("from a server that lists nothing", () => {
  it.each([
    ["a step", "/1", {}],
    ["a step with its item", "/1", { item: "default" }],
    ["an item", "/1/default", {}],
    ["a root with a step", "", { step: 1 }],
    ["a root with step and item", "", { step: 1, item: "default" }],
  ])("%s is opened, by asking for a few files, each once", async (_, path, options) => {
    const server = await serve("plain-orbax/checkpoints", bucket);
    const opened = await openCheckpoint(server.url + path, options);
    expect(await opened.restore()).toMatchObject(tree);
    // Folders are asked for until it is clear that none is listed, and so is the index file that would stand for that.
    const asked = askedOf(server).filter((each) => !/\/$|^\/1$|index.json$/.test(each));
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(13);
    expect(new Set(asked).size).toBe(asked.length);
  });

  it("items are known by what the step's file says", async () => {
    const server = await serve("named-items/checkpoints", bucket);
    expect(await openCheckpoint(`${server.url}/1`)).toMatchObject({ kind: "step", item: "state", leaves: [{}, {}] });
    const opened = await openCheckpoint(`${server.url}/1`, { item: "metadata" });
    expect(await opened.restore()).toEqual({ metadata: "json_data" });
    await expect(openCheckpoint(`${server.url}/1`, { item: "none" })).rejects.toThrow(
      /has no item "none"; it holds "metadata" \(JSON\), "state"/,
    );
  });

  it.each(["0.5.3", "0.5.16", "0.7.0", "0.10.3", "0.11.13", "0.11.33", "0.12.8"])(
    "single arrays and random keys of Orbax %s are found by their names, and by their addresses",
    async (version) => {
      const folder = `generations/${version}`;
      const server = await serve(`${folder}/checkpoints/special`, bucket);
      const file = await readFile(join(fixtureFolder, folder, "expected.json"), "utf8");
      const { special = {} } = (JSON.parse(file) as Generation).checkpoints.special ?? {};
      expect(Object.keys(special)).toHaveLength(3);
      for (const [path, leaves] of Object.entries(special)) {
        const [step = "", item] = path.split("/");
        const root = await openCheckpoint(server.url, { step: Number(step), item });
        expect(await differences(await root.restore(), leaves)).toEqual([]);
        const inStep = await openCheckpoint(`${server.url}/${step}`, { item });
        expect(await differences(await inStep.restore(), leaves)).toEqual([]);
        const alone = await openCheckpoint(`${server.url}/${path}`);
        expect(await differences(await alone.restore(), leaves)).toEqual([]);
      }
    },
  );

  it.each(["0.7.0"])("a root of Orbax %s is not taken for a step, whatever its own metadata are called", async (version) => {
    const server = await serve(`generations/${version}/checkpoints/composite`, bucket);
    await expect(openCheckpoint(server.url, { step: 99 })).rejects.toThrow(
      /holds the folder "99"; a step whose folder has another name is opened by the address of that folder$/,
    );
  });

  it("a step of substrax is known by its record", async () => {
    const server = await serve("digits/checkpoints", bucket);
    const opened = await openCheckpoint(`${server.url}/400`, { item: "model" });
    expect(opened.leaves[0]?.path).toBe("hidden1/bias/value");
    expect(opened.metadata.record?.step).toBe(400);
    await expect(openCheckpoint(`${server.url}/400`)).rejects.toThrow(/holds several items: .*"model" \(a tree of arrays\)/);
  });

  it("a step from before there was a file that names items is tried for those that are usual", async () => {
    const old = new Map([...filesOfStep("plain-orbax", 1)].filter(([path]) => !path.endsWith("_CHECKPOINT_METADATA")));
    const server = await serve(old, bucket);
    expect(await openCheckpoint(`${server.url}/1`)).toMatchObject({ kind: "step", item: "default" });
    const bare = await serve(
      new Map([
        ["1/_CHECKPOINT_METADATA", new TextEncoder().encode("{}")],
        ["1/x/_METADATA", new Uint8Array()],
      ]),
      bucket,
    );
    await expect(openCheckpoint(`${bare.url}/1`)).rejects.toThrow(/name it with the option item/);
  });

  it("a root needs a step, and the error says so, and what was tried", async () => {
    const server = await serve("plain-orbax/checkpoints", bucket);
    await expect(openCheckpoint(server.url)).rejects.toMatchObject({
      name: "CheckpointNotFoundError",
      message: expect.stringMatching(/cannot be listed, and none of _METADATA, _CHECKPOINT_METADATA, .* give the step's own/),
    });
    await expect(openCheckpoint(server.url, { step: 5 })).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: 5 });
  });

  it.each([
    ["an app's page", { kind: "body", body: appPage } as const],
    ["403", { kind: "status", status: 403 } as const],
  ])("and answers %s to what is not there", async (_, fault) => {
    const server = await serve("plain-orbax/checkpoints", {
      ...bucket,
      faults: [{ ...fault, path: /^(?!\/1\/(default\/)?[_md]|\/1\/default\/ocdbt).*/ }],
    });
    const storage = createHttpStorage(`${server.url}/1`, {}, testClock());
    expect(await (await openCheckpoint(storage)).restore()).toMatchObject(tree);
  });
});

describe("an address of something else says what it is:", () => {
  it.each([
    [
      "the database of a process",
      "/1/default/ocdbt.process_0",
      /is what one process wrote of an item, whose database has it all: give .*\/1\/default$/,
    ],
    ["a file of an item", "/1/default/_METADATA", /_METADATA is a file: give the folder of the checkpoint, which may be .*\/1\/default$/],
    ["a file of a step", "/1/_CHECKPOINT_METADATA", /is a file/],
    ["a file without bytes", "/1/empty", /is a file/],
    ["a file of flax", "/1/checkpoint_7", /checkpoint_7 is a file: give .*\/1 with the option step: 7$/],
    ["the data files", "/1/default/d", /is the data files of a database: give the folder of the item, such as .*\/1\/default$/],
  ])("%s", async (_, path, message) => {
    const files = filesOfStep("plain-orbax", 1);
    files.set("1/empty", new Uint8Array());
    files.set("1/checkpoint_7", new Uint8Array(1));
    const server = await serve(files);
    await expect(openCheckpoint(server.url + path)).rejects.toMatchObject({
      name: "CheckpointValueError",
      message: expect.stringMatching(message),
    });
  });

  it("nothing", async () => {
    const server = await serve("plain-orbax/checkpoints");
    await expect(openCheckpoint(`${server.url}/2`)).rejects.toMatchObject({ name: "CheckpointNotFoundError", step: undefined });
  });

  it.each([
    ["a pointer of Git LFS", lfsPointer(5), "text/plain", /git lfs pull/],
    ["a page", appPage, "text/html", /raw files/],
    ["a page without a media type", appPage, "", /raw files/],
  ])("%s in place of a file that is needed", async (_, body, contentType, message) => {
    const server = await serve("plain-orbax/checkpoints", { faults: [{ kind: "body", body, contentType, path: "/1/default/_METADATA" }] });
    await expect(openCheckpoint(server.url)).rejects.toMatchObject({ reason: "not-a-checkpoint", message: expect.stringMatching(message) });
  });

  it("the database of a process whose item was never merged is opened", async () => {
    const files = filesOfStep("plain-orbax", 1);
    files.delete("1/default/manifest.ocdbt");
    const server = await serve(files);
    expect(await openCheckpoint(`${server.url}/1/default/ocdbt.process_0`)).toMatchObject({ kind: "process", path: "" });
    expect(await openCheckpoint(server.url)).toMatchObject({ kind: "root", layout: { databases: "processes" } });
  });
});

describe("a file that changes while it is opened", () => {
  const node = /\/1\/default\/d\//;
  const cut = { kind: "cut", afterBytes: 20, path: node } as const;

  it("once has it opened anew", async () => {
    const bytes = [...filesOfStep("plain-orbax", 1)].find(([path]) => node.test(`/${path}`))?.[1] ?? new Uint8Array();
    const server = await serve("plain-orbax/checkpoints", {
      faults: [
        { ...cut, times: 1 },
        { kind: "replace", path: node, bytes, after: 1 },
      ],
    });
    const storage = createHttpStorage(server.url, {}, testClock());
    expect(await (await openCheckpoint(storage)).restore()).toMatchObject(tree);
    expect(askedOf(server).filter((asked) => asked === "/1/default/_METADATA")).toHaveLength(2);
  });

  it("once has the store open it anew, too", async () => {
    const isNode = /\/400\/model\/d\//;
    const bytes = [...filesOfStep("digits", 400)].find(([path]) => isNode.test(`/${path}`))?.[1] ?? new Uint8Array();
    const server = await serve("digits/checkpoints", {
      faults: [
        { ...cut, path: isNode, times: 1 },
        { kind: "replace", path: isNode, bytes, after: 1 },
      ],
    });
    const opened = await new OrbaxCheckpointStore(createHttpStorage(server.url, {}, testClock())).open(400);
    expect(opened.leaves.length).toBeGreaterThan(0);
    expect(askedOf(server).filter((asked) => asked === "/400/metadata/metadata")).toHaveLength(2);
  });

  it("again and again is an error", async () => {
    const server = await serve("plain-orbax/checkpoints", { faults: [cut] });
    let version = 0;
    const fetchOther = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      if (!node.test(url)) return response;
      const headers = new Headers(response.headers);
      headers.set("etag", `"${version++}"`);
      return new Response(response.body, { status: response.status, headers });
    };
    const storage = createHttpStorage(server.url, { fetch: fetchOther }, testClock());
    await expect(openCheckpoint(storage)).rejects.toMatchObject({ name: "StorageError", reason: "changed" });
    expect(askedOf(server).filter((asked) => asked === "/1/default/_METADATA")).toHaveLength(2);
  });
});

it("keeps the secrets of an address out of errors and what it tells", async () => {
  const server = await serve("plain-orbax/checkpoints");
  const address = new URL(`${server.url}/1/default/_METADATA?token=secret`);
  address.username = "someone";
  address.password = "secret";
  const error = await openCheckpoint(address).catch((caught: unknown) => caught);
  expect(String(error)).toMatch(/is a file/);
  expect(String(error)).not.toMatch(/someone|secret/);
});

it("takes a storage with options of its own", async () => {
  const server = await serve("plain-orbax/checkpoints");
  expect(await openCheckpoint(httpStorage(`${server.url}/1`, { headers: { "x-key": "1" } }))).toMatchObject({ kind: "step", step: 1 });
  expect(server.requests.every(({ headers }) => headers["x-key"] === "1")).toBe(true);
});
