import { afterEach, describe, expect, it } from "vitest";
import { s3Handler } from "../../../e2e/server/s3.mjs";
import { type RunningServer, type ServerOptions, startServer } from "../../../e2e/server/server.mjs";
import { testStorage } from "../conformance.testing.js";
import { testClock } from "../http/clock.testing.js";
import { createHttpStorage } from "../http.js";
import { memoryStorage } from "../memory.js";
import { indexFileName, parseIndexFile } from "./indexFile.js";
import { writeIndex } from "./writeIndex.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

async function serve(options: ServerOptions): Promise<RunningServer> {
  const server = await startServer(options);
  running.push(server);
  return server;
}

const open = (server: RunningServer, folder = "") => createHttpStorage(server.url + folder, {}, testClock());
const text = (value: string) => new TextEncoder().encode(value);

/** Files with an index of them. */
async function indexed(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, Uint8Array>> {
  const storage = memoryStorage(files);
  await writeIndex(storage);
  return new Map([...files, [indexFileName, (await storage.read(indexFileName)) ?? text("")]]);
}

testStorage("a host that cannot list, with an index file", async (files) => {
  const all = await indexed(new Map([...files].filter(([path]) => path !== "never")));
  const server = await startServer({ root: all, index: "none" });
  return { storage: open(server), close: () => server.close() };
});

const steps = new Map(["100/model/_METADATA", "100/_", "200/x", "notes"].map((path) => [path, text("x")]));

describe("writeIndex", () => {
  it("lists every file but itself, however often it is written", async () => {
    const storage = memoryStorage(steps);
    await writeIndex(storage);
    await writeIndex(storage);
    const bytes = (await storage.read(indexFileName)) ?? text("");
    expect(parseIndexFile(bytes)).toEqual([...steps.keys()].sort());
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({
      format: "orbax-webgpu index",
      format_version: 1,
      files: [...steps.keys()].sort(),
    });
  });

  it("of an empty folder is an index, and stops with its signal", async () => {
    const storage = memoryStorage();
    const reason = new Error("enough");
    await expect(writeIndex(storage, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await storage.read(indexFileName)).toBeUndefined();
    await writeIndex(storage);
    expect(parseIndexFile((await storage.read(indexFileName)) ?? text(""))).toEqual([]);
  });
});

describe("a host's index file", () => {
  it("is not asked for by those who list nothing, and is one request for each list, the first time beside the page", async () => {
    const server = await serve({ root: await indexed(steps), index: "none" });
    const storage = open(server);
    await storage.read("100/_");
    expect(server.requests).toHaveLength(1);
    for (const [prefix, directories] of [
      ["", ["100", "200"]],
      ["100/", ["model"]],
      ["300/", []],
    ] as const)
      expect((await storage.list(prefix)).directories).toEqual(directories);
    const [first, ...later] = server.requests.slice(1).map(({ path }) => path);
    expect(first).toBe(`/${indexFileName}`);
    expect(later.filter((path) => path !== "/")).toEqual(Array(2).fill(`/${indexFileName}`));
  });

  it("is read anew each time, and where it has gone the host is asked again", async () => {
    const root = await indexed(steps);
    const server = await serve({ root });
    const storage = open(server);
    const files = ["300/x", ...steps.keys()];
    root.set(indexFileName, (await indexed(new Map(files.map((path) => [path, text("x")])))).get(indexFileName) ?? text(""));
    expect((await storage.list("")).directories).toEqual(["100", "200", "300"]);
    root.delete(indexFileName);
    expect((await storage.list("")).directories).toEqual(["100", "200"]);
  });

  it("is preferred to the host's pages, which are asked alone where there is none", async () => {
    const root = await indexed(steps);
    root.set("300/later", text("x"));
    expect((await open(await serve({ root })).list("")).directories).toEqual(["100", "200"]);
    root.delete(indexFileName);
    const server = await serve({ root });
    const storage = open(server);
    for (const prefix of ["", "100/", ""]) await storage.list(prefix);
    expect(server.requests.map(({ path }) => path)).toEqual([`/${indexFileName}`, "/", "/100/", "/"]);
  });

  it("and the page are asked for at once", async () => {
    const asked: string[] = [];
    let bothAsked = () => {};
    const both = new Promise<void>((resolve) => {
      bothAsked = resolve;
    });
    const fetch = async (url: string) => {
      asked.push(new URL(url).pathname);
      if (asked.length === 2) bothAsked();
      await both; // for ever, were one asked after the other
      return new Response(null, { status: 404 });
    };
    await expect(createHttpStorage("https://host/run", { fetch }, testClock()).list("")).rejects.toMatchObject({ reason: "cannot-list" });
    expect(asked).toEqual([`/run/${indexFileName}`, "/run/"]);
  });

  it("and pages are asked for once each, whatever is listed, where the host lists nothing", async () => {
    for (const [body, guesses] of [
      ["", []],
      ["<Error><Code>NoSuchKey</Code></Error>", ["/a?list-type=2", "/?list-type=2"]],
    ] as const) {
      const asked: string[] = [];
      const fetch = async (url: string) => {
        asked.push(url.slice("https://host".length).replace(/&.*/, ""));
        return new Response(body, { status: 404 });
      };
      const storage = createHttpStorage("https://host/a/run", { fetch }, testClock());
      await expect(storage.list("1/model/d/")).rejects.toMatchObject({ reason: "cannot-list" });
      const pages = ["/a/run/1/model/d/", "/a/run/1/model/", "/a/run/"];
      expect(asked.splice(0)).toEqual([`/a/run/${indexFileName}`, ...pages, ...guesses]);
      for (const prefix of ["1/model/d/", "1/", ""]) {
        await expect(storage.list(prefix)).rejects.toMatchObject({ reason: "cannot-list" });
        await expect(storage.snapshot?.().list(prefix)).rejects.toMatchObject({ reason: "cannot-list" });
        expect(asked.splice(0)).toEqual(Array(2).fill(`/a/run/${prefix}`));
      }
    }
  });

  it("and the page are all that a host which lists nothing is asked for, and the page alone from then on", async () => {
    const server = await serve({ root: steps, index: "none" });
    const storage = open(server);
    for (const asked of [[`/${indexFileName}`, "/"], ["/"]]) {
      server.resetRequests();
      await expect(storage.list("")).rejects.toMatchObject({ reason: "cannot-list", message: expect.stringMatching(/name the step/) });
      expect(server.requests.map(({ path }) => path)).toEqual(asked);
    }
  });

  it("serves where an object store's API refuses", async () => {
    const objects = new Map([...(await indexed(steps))].map(([path, bytes]) => [`run/${path}`, bytes]));
    const handler = s3Handler("bucket", objects, { mayList: false });
    const server = await serve({ root: new Map(), mounts: { "/bucket/": objects }, handler });
    const storage = createHttpStorage("s3://bucket/run", { endpoint: server.url }, testClock());
    expect((await storage.list("")).directories).toEqual(["100", "200"]);
    expect((await storage.list("100/")).directories).toEqual(["model"]);
    expect(server.requests.map(({ path }) => path)).toEqual(["/bucket", ...Array(2).fill(`/bucket/run/${indexFileName}`)]);
  });

  it.each([
    "",
    "{",
    '{"files":[]}',
    '{"format":"orbax-webgpu index","format_version":2,"files":[]}',
    '{"format":"orbax-webgpu index"}',
    "[]",
  ])("that holds %j is an error that says what to do", async (content) => {
    const server = await serve({ root: new Map([[indexFileName, text(content)]]) });
    await expect(open(server).list("")).rejects.toMatchObject({
      reason: "not-a-checkpoint",
      url: `${server.url}/${indexFileName}`,
      message: expect.stringMatching(/writeIndex/),
    });
  });

  it("lists no paths that lead out of the folder", async () => {
    const files = ["../../etc/passwd", "/etc/passwd", "a//b", "./c", "ok/x", ""];
    const content = JSON.stringify({ format: "orbax-webgpu index", format_version: 1, files });
    const server = await serve({ root: new Map([[indexFileName, text(content)]]) });
    expect(await open(server).list("")).toEqual({ files: [], directories: ["ok"] });
  });
});
