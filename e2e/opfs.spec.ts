import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { chromium, type Page } from "playwright/test";
import type { Expected } from "./fixtures/expected.js";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";
import { chromiumArguments, findChromium } from "./setup/chromium.mjs";

// The origin's private file system: the storages' conformance cases, checkpoints that are read from it, and what is refused.

/** The same, in a browser with a profile on disk: without one the browser keeps these files in its memory, and its answers differ. */
const onDisk = test.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
  context: async ({}, use) => {
    const profile = mkdtempSync(join(tmpdir(), "orbax-webgpu-opfs-"));
    const executablePath = findChromium() ?? "";
    const context = await chromium.launchPersistentContext(profile, { executablePath, args: chromiumArguments(), headless: true });
    await use(context);
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  },
});

for (const [where, run] of [
  ["in memory", test],
  ["on disk", onDisk],
] as const) {
  run(`does what every storage must do: ${where}`, async ({ page }) => {
    const [onPage, inWorker] = await page.evaluate(async () => {
      const { conformanceFiles, inWorker, opfsTasks, putFiles } = window.internals;
      await putFiles("con form/é%20", conformanceFiles);
      return [await opfsTasks.problemsOfReading("con form/é%20"), await inWorker("problemsOfReading", "con form/é%20")];
    });
    expect(onPage.problems).toEqual([]);
    expect(onPage.run).toBeGreaterThan(45);
    expect(inWorker).toEqual(onPage);
  });

  run(`does what every storage must do that can be written to: ${where}`, async ({ page }) => {
    const { onPage, inWorker, started } = await page.evaluate(async () => {
      const { inWorker, opfsTasks } = window.internals;
      const started: string[] = [];
      window.Worker = class extends Worker {
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          started.push(new URL(url).protocol);
        }
      };
      const onPage = await opfsTasks.problemsOfWriting("on the page");
      return { onPage, started: [...started], inWorker: await inWorker("problemsOfWriting", "in/a worker") };
    });
    expect(onPage.problems).toEqual([]);
    expect(onPage.run).toBeGreaterThan(15);
    expect(inWorker).toEqual(onPage);
    // One for all files.
    expect(started).toEqual(["blob:"]);
  });

  run(`does so where pages have no workers: ${where}`, async ({ page }) => {
    await page.evaluate(() => Reflect.deleteProperty(window, "Worker"));
    const { run, problems } = await page.evaluate(() => window.internals.opfsTasks.problemsOfWriting("without workers"));
    expect(problems).toEqual([]);
    expect(run).toBeGreaterThan(15);
  });

  run(`files are read at first hand: ${where}`, async ({ page }) => {
    const [onPage, inWorker] = await page.evaluate(async () => {
      const { conformanceFiles, inWorker, opfsTasks, putFiles } = window.internals;
      await putFiles("sources", conformanceFiles);
      const handle = await window.orbax.opfsStorage("sources").handle?.("run/10/model/d/0a");
      if (handle === undefined) throw new Error("there is no handle");
      return [await opfsTasks.problemsOfSources("sources", handle), await inWorker("problemsOfSources", "sources", handle)];
    });
    expect(onPage).toEqual({ sync: false, problems: [] });
    expect(inWorker).toEqual({ sync: true, problems: [] });
  });

  run(`a snapshot keeps to one version of a file, and a later one sees the new: ${where}`, async ({ page }) => {
    const found = await page.evaluate(async () => {
      const { fillsOf, opfsFolder, outcomeOf, putFile } = window.internals;
      const storage = window.orbax.opfsStorage("changes");
      const bytes = (fill: number) => new Uint8Array(8_000_000).fill(fill);
      const range = { offset: 5, length: 2 };
      const first = (work: Promise<Uint8Array | undefined> | undefined) => outcomeOf(work?.then((read) => read?.[0]));

      await putFile("changes/a/file", bytes(1));
      const snapshot = storage.snapshot?.();
      const before = await first(snapshot?.read("a/file", { range }));
      await putFile("changes/a/file", bytes(2));
      const changed = [
        await first(snapshot?.read("a/file", { range })),
        await first(snapshot?.read("a/file")),
        await outcomeOf(snapshot?.handle?.("a/file")),
        await outcomeOf(fillsOf(snapshot?.stream?.("a/file", range))),
      ];
      const later = storage.snapshot?.();
      const again = [await first(storage.read("a/file", { range })), await first(later?.read("a/file", { range }))];
      const pieces = storage.stream?.("a/file", { offset: 0, length: 8_000_000 });
      const meanwhile = await outcomeOf(fillsOf(pieces, () => putFile("changes/a/file", bytes(3))));
      await (await opfsFolder("changes")).removeEntry("a", { recursive: true });
      const gone = [await first(later?.read("a/file")), await outcomeOf(storage.read("a/file"))];
      return { before, changed, again, meanwhile, gone };
    });
    const { meanwhile, ...rest } = found;
    const changed = "StorageError changed a/file";
    expect(rest).toEqual({ before: 1, changed: Array(4).fill(changed), again: [2, 2], gone: [changed, undefined] });
    // On a disk the bytes that were there may still come, all of them; never some of each.
    expect([[2], changed]).toContainEqual(meanwhile);
  });
}

test("what no file can be called is absent, and so is a folder in a file's place and the reverse", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { putFile } = window.internals;
    const { opfsStorage } = window.orbax;
    await putFile("odd/file", Uint8Array.of(1));
    await putFile("odd/\ufffd", Uint8Array.of(1));
    const storage = opfsStorage("/odd/");
    const paths = ["a\\b", "x".repeat(300), "é".repeat(200), "\ud800", "file/below", "file\\", "no/where"];
    const absent = await Promise.all(paths.map(async (path) => [await storage.read(path), await storage.handle?.(path)]));
    const inFile = opfsStorage("odd/file");
    return {
      absent: absent.flat().filter((found) => found !== undefined),
      inFile: [await inFile.list(""), await inFile.read("x")],
      nowhere: [await opfsStorage("not/there").list(""), await opfsStorage("not/there").read("x")],
      folder: [await storage.list("file/"), await storage.list("a\\b/")],
      made: (await opfsStorage().list("")).directories,
    };
  });
  const nothing = { files: [], directories: [] };
  expect(found).toEqual({
    absent: [],
    inFile: [nothing, undefined],
    nowhere: [nothing, undefined],
    folder: [nothing, nothing],
    made: ["odd"],
  });
});

test("a folder that was removed and made anew after it was found is read as it is", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { opfsFolder, putFile } = window.internals;
    await putFile("above/run/1/a", Uint8Array.of(1));
    const storage = window.orbax.opfsStorage("above/run");
    const seen = async () => [(await storage.list("")).directories, [...((await storage.read("1/a")) ?? [])]];
    const first = await seen();
    await (await opfsFolder("")).removeEntry("above", { recursive: true });
    const gone = await seen();
    await putFile("above/run/1/a", Uint8Array.of(2));
    await putFile("above/run/2/a", Uint8Array.of(3));
    return { first, gone, anew: await seen() };
  });
  expect(found).toEqual({ first: [["1"], [1]], gone: [[], []], anew: [["1", "2"], [2]] });
});

test("a snapshot looks for each folder and file once", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const calls: string[] = [];
    const count = (prototype: object, method: string) => {
      const original = Reflect.get(prototype, method) as (...given: unknown[]) => unknown;
      Reflect.set(prototype, method, function (this: unknown, ...given: unknown[]) {
        calls.push(method);
        return original.apply(this, given);
      });
    };
    const { conformanceFiles, putFiles } = window.internals;
    await putFiles("counted", conformanceFiles);
    count(StorageManager.prototype, "getDirectory");
    for (const method of ["getDirectoryHandle", "getFileHandle"]) count(FileSystemDirectoryHandle.prototype, method);
    count(FileSystemFileHandle.prototype, "getFile");
    const snapshot = window.orbax.opfsStorage("counted").snapshot?.();
    const read = (path: string, offset: number) => snapshot?.read(path, { range: { offset, length: 1 } });
    const untouched = calls.length;
    await Promise.all([read("run/10/model/d/0a", 0), read("run/10/model/d/0a", 500), read("run/10/_METADATA", 0)]);
    const first = calls.splice(0).sort();
    await read("run/10/model/d/0a", 70_000);
    return { untouched, first, second: calls };
  });
  expect(found).toEqual({
    untouched: 0,
    first: [
      // counted, run, 10, model, d
      ...["getDirectory", "getDirectoryHandle", "getDirectoryHandle", "getDirectoryHandle", "getDirectoryHandle", "getDirectoryHandle"],
      ...["getFile", "getFile", "getFile", "getFileHandle", "getFileHandle"],
    ],
    second: ["getFile"],
  });
});

onDisk("a picked folder does what every storage must do that can be written to", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { inWorker, opfsTasks } = window.internals;
    return [await opfsTasks.problemsOfDirectory("picked"), await inWorker("problemsOfDirectory", "picked in a worker")] as const;
  });
  for (const { run, problems } of found) {
    expect(problems).toEqual([]);
    expect(run).toBeGreaterThan(15);
  }
});

onDisk("a file that a reader has open is waited for, for a while", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const { holdFile, outcomeOf, putFile } = window.internals;
    const { opfsStorage } = window.orbax;
    const changes: readonly ((storage: ReturnType<typeof opfsStorage>) => Promise<unknown>)[] = [
      (storage) => storage.write("a/file", Uint8Array.of(9)),
      (storage) => storage.move("other", "a/file"),
      (storage) => storage.move("a/file", "b"),
      (storage) => storage.remove("a"),
    ];
    const held = changes.map(async (change, index) => {
      const storage = opfsStorage(`held/${index}`);
      const read = async () => [...((await storage.read("a/file")) ?? [])];
      await putFile(`held/${index}/other`, Uint8Array.of(2));
      const release = await holdFile(await putFile(`held/${index}/a/file`, Uint8Array.of(1)));
      return { change: () => outcomeOf(change(storage)), read, release, refused: [await outcomeOf(change(storage)), await read()] };
    });
    const outcomes = [];
    const { setTimeout } = window;
    for (const { change, read, release, refused } of await Promise.all(held)) {
      // The reader ends while the third try is waited for.
      window.setTimeout = ((work: () => void, delay = 0) =>
        delay === 40 ? void release().then(work) : setTimeout(work, delay)) as typeof setTimeout;
      outcomes.push([...refused, await change(), await read()]);
    }
    return outcomes;
  });
  const busy = (path: string) => `StorageError busy ${path}`;
  expect(found).toEqual([
    [busy("a/file"), [1], undefined, [9]],
    [busy("a/file"), [1], undefined, [2]],
    [busy("b"), [1], undefined, []],
    [busy("a"), [1], undefined, []],
  ]);
});

for (const [title, workers] of [
  ["that forbids workers", "'none'"],
  ["that allows them", "blob:"],
] as const) {
  test(`files come right on a page with a policy ${title}`, async ({ page }) => {
    const headers = { "content-security-policy": `script-src 'self'; worker-src ${workers}` };
    const pages = await startServer({ root: join(import.meta.dirname, "results", "page"), headers });
    await page.goto(`${pages.url}/index.html`);
    await page.waitForFunction(() => "orbax" in window);
    const found = await page.evaluate(async () => {
      const calls: string[] = [];
      const { createWritable } = FileSystemFileHandle.prototype;
      FileSystemFileHandle.prototype.createWritable = function (...given) {
        calls.push("createWritable");
        return createWritable.apply(this, given);
      };
      const storage = window.orbax.opfsStorage("policy");
      const bytes = Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 251);
      await storage.write("a/file", bytes);
      const read = await storage.read("a/file");
      return { calls, isRight: read?.length === bytes.length && read.every((byte, index) => byte === bytes[index]) };
    });
    await pages.close();
    expect(found).toEqual({ calls: workers === "blob:" ? [] : ["createWritable"], isRight: true });
  });
}

test("where handles cannot be sent to workers, as in Safari, a worker finds the file by its path", async ({ page }) => {
  const found = await page.evaluate(async () => {
    const sent: unknown[] = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message: { readonly place?: unknown }, transfer: never) {
      if (message.place instanceof FileSystemHandle) throw new DOMException("The object can not be cloned.", "DataCloneError");
      if (message.place !== undefined) sent.push(message.place);
      return postMessage.call(this, message, transfer);
    };
    FileSystemFileHandle.prototype.createWritable = async () => {
      throw new DOMException("There is none.", "NotSupportedError");
    };
    const storage = window.orbax.opfsStorage("by path");
    const bytes = Uint8Array.from({ length: 2_500_000 }, (_, index) => index % 251);
    await storage.write("a/file", bytes);
    const read = await storage.read("a/file");
    return { sent, isRight: read?.length === bytes.length && read.every((byte, index) => byte === bytes[index]) };
  });
  expect(found).toEqual({ sent: [["by path", "a", expect.stringMatching(/\.partial$/)]], isRight: true });
});

for (const [where, run] of [
  // Where Chromium says of synchronous handles' bytes for which there is no room that they were written.
  ["in memory", test],
  ["on disk", onDisk],
] as const) {
  run(`what there is no room for leaves all as it was: ${where}`, async ({ page, pageServer }) => {
    await page.evaluate(() => window.orbax.opfsStorage("full").write("kept", Uint8Array.of(1)));
    const session = await page.context().newCDPSession(page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: new URL(pageServer.url).origin, quotaSize: 5_000_000 });
    const { failures, kept, left } = await page.evaluate(async () => {
      const { directoryStorage, opfsStorage } = window.orbax;
      const { failureOf, opfsFolder } = window.internals;
      const own = opfsStorage("full");
      const works: Promise<unknown>[] = [];
      // By the page's worker, and by a stream.
      for (const storage of [own, directoryStorage(await opfsFolder("full"))])
        for (const path of ["kept", "new/file"]) works.push(storage.write(path, new Uint8Array(20_000_000)));
      const failures = await Promise.all(works.map(failureOf));
      const list = async () => [await own.list(""), await own.list("new/")];
      return {
        failures: failures.map((failed) => [failed?.name, failed?.reason, failed?.message]),
        kept: [...((await own.read("kept")) ?? [])],
        left: await list(),
      };
    });
    expect(failures).toEqual(
      Array(4).fill(["StorageError", "quota", expect.stringMatching(/no room left.*20,000,000 bytes more are needed/)]),
    );
    expect(kept).toEqual([1]);
    expect(left).toEqual([
      { files: ["kept"], directories: ["new"] },
      { files: [], directories: [] },
    ]);
  });
}

test("says before the first byte that there is no room", async ({ page }) => {
  const failed = await page.evaluate(async () => {
    StorageManager.prototype.estimate = async () => ({ quota: 5000, usage: 3000 });
    const storage = window.orbax.opfsStorage("full");
    await storage.requireRoom?.(2000);
    return window.internals.failureOf(storage.requireRoom?.(2001) ?? Promise.resolve());
  });
  expect(failed).toMatchObject({
    name: "StorageError",
    reason: "quota",
    message: expect.stringMatching(/2,001 bytes more.*2,000 bytes are free/),
  });
});

onDisk("a folder's handle is kept beyond the page, until it is forgotten", async ({ page }) => {
  await page.evaluate(async () => {
    const { directoryStorage, rememberDirectory } = window.orbax;
    const folder = await window.internals.opfsFolder("picked/runs");
    await directoryStorage(folder).write("a/file", Uint8Array.of(5));
    await rememberDirectory("runs", folder);
  });
  await page.reload();
  await page.waitForFunction(() => "orbax" in window);
  const found = await page.evaluate(async () => {
    const { directoryStorage, recallDirectory, rememberDirectory } = window.orbax;
    const folder = await recallDirectory("runs");
    const read = folder && (await directoryStorage(folder).read("a/file"));
    await rememberDirectory("runs", undefined);
    return { name: folder?.name, read: [...(read ?? [])], others: [await recallDirectory("runs"), await recallDirectory("never")] };
  });
  expect(found).toEqual({ name: "runs", read: [5], others: [undefined, undefined] });
});

const data = join(import.meta.dirname, "fixtures", "data");
const fixtures = ["digits", "thousand", "dtypes", "sharded", "trees", "x64", "zarr-variants"];

/** A compressor that is refused; that it is, the unit tests check. */
const refused = ["bz2"];

let server: RunningServer;

test.beforeAll(async () => {
  server = await startServer({ root: data });
});
test.afterAll(() => server.close());

/** Copies a fixture's store below a folder of its name. */
async function copy(page: Page, fixture: string): Promise<void> {
  const root = join(data, fixture);
  const paths = readdirSync(join(root, "checkpoints"), { recursive: true, encoding: "utf8" })
    .map((name) => join(root, "checkpoints", name))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(root, path).split(sep).join("/"));
  expect(paths.length).toBeGreaterThan(5);
  await page.evaluate(({ fixture, url, paths }) => window.internals.copyFiles(`runs/${fixture}`, url, paths), {
    fixture,
    url: `${server.url}/${fixture}`,
    paths,
  });
}

const read = (fixture: string): Expected => JSON.parse(readFileSync(join(data, fixture, "expected.json"), "utf8"));

for (const fixture of fixtures) {
  test(`${fixture} comes back byte for byte from a folder's path`, async ({ page }) => {
    await copy(page, fixture);
    const steps = Object.entries(read(fixture).steps).filter(([, step]) => step.items !== undefined && !refused.includes(step.case ?? ""));
    const found = await page.evaluate(
      async ({ directory, steps }) => {
        const device = await window.internals.testDevice();
        const problems: string[] = [];
        for (const [step, { items = {} }] of steps) {
          problems.push(...(await window.internals.problemsOfStep(directory, Number(step), items, device)));
        }
        return { problems, listed: await new window.orbax.OrbaxCheckpointStore(`/${directory}`).listSteps() };
      },
      { directory: `runs/${fixture}/checkpoints`, steps },
    );
    expect(found.problems).toEqual([]);
    for (const [step] of steps) expect(found.listed).toContain(Number(step));
  });
}

onDisk("digits comes back from disk, on the page and in a worker", async ({ page }) => {
  await copy(page, "digits");
  const expected = read("digits").steps["1200"]?.items ?? {};
  const found = await page.evaluate(async (items) => {
    const { problemsOfStep, restoreInWorker, testDevice } = window.internals;
    const directory = "runs/digits/checkpoints";
    return {
      problems: await problemsOfStep(directory, 1200, items, await testDevice()),
      worker: await restoreInWorker(directory, 1200, "model", "out/bias/value"),
    };
  }, expected);
  expect(found.problems).toEqual([]);
  expect(found.worker).toBe(expected.model?.find(({ path }) => path.join("/") === "out/bias/value")?.hex);
});

test("files that change while a step is open make its next restore begin anew, and tell what is there then", async ({ page }) => {
  await copy(page, "digits");
  const found = await page.evaluate(async () => {
    const { OrbaxCheckpointStore, opfsStorage } = window.orbax;
    const { failureOf, putFile } = window.internals;
    const directory = "runs/digits/checkpoints";
    const opened = await new OrbaxCheckpointStore(directory).open(1200);
    const bias = async () => [...((await opened.items.model?.read("out/bias/value"))?.data ?? [])].join();
    const before = await bias();
    const storage = opfsStorage(directory);
    const folder = "1200/model/ocdbt.process_0/d/";
    const rewrite = async (change: (bytes: Uint8Array) => Uint8Array) => {
      for (const name of (await storage.list(folder)).files) {
        const bytes = (await storage.read(folder + name)) ?? new Uint8Array();
        await putFile(`${directory}/${folder}${name}`, change(bytes));
      }
    };
    await opened.restore();
    await rewrite((bytes) => bytes.slice());
    await opened.restore();
    const after = await bias();
    await rewrite((bytes) => new Uint8Array(bytes.byteLength));
    return { isSame: before === after && before !== "", damage: await failureOf(opened.restore()) };
  });
  expect(found.isSame).toBe(true);
  expect(found.damage).toMatchObject({ name: "CorruptCheckpointError" });
});

const failure = (page: Page) =>
  page.evaluate(async () => {
    const { OrbaxCheckpointStore, opfsStorage } = window.orbax;
    const { failureOf } = window.internals;
    return [
      await failureOf(new OrbaxCheckpointStore("runs/digits").open(1)),
      await failureOf(opfsStorage("runs").read("x")),
      await failureOf(opfsStorage("runs").list("")),
      await failureOf(opfsStorage("runs").handle?.("x")),
    ].map((failed) => [failed?.name, failed?.reason, failed?.message]);
  });

test("a page without https is told what it needs", async ({ page, pageServer }) => {
  await page.route("http://insecure.example/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: new URL(pathname, pageServer.url).href }) });
  });
  await page.goto("http://insecure.example/");
  await page.waitForFunction(() => "orbax" in window);
  for (const failed of await failure(page)) {
    expect(failed).toEqual(["StorageError", "unavailable", expect.stringMatching(/^opfs:\/runs.*https or from localhost/)]);
  }
});

test("a page whose browser gives no such file system is told what to use", async ({ page }) => {
  await page.evaluate(() => {
    StorageManager.prototype.getDirectory = async () => {
      throw new DOMException("It was determined that certain files are unsafe for access", "SecurityError");
    };
  });
  for (const failed of await failure(page)) {
    expect(failed).toEqual(["StorageError", "unavailable", expect.stringMatching(/private windows.*memoryStorage/)]);
  }
  await page.evaluate(() => Reflect.deleteProperty(StorageManager.prototype, "getDirectory"));
  for (const failed of await failure(page)) {
    expect(failed).toEqual(["StorageError", "unavailable", expect.stringMatching(/no private file system.*memoryStorage/)]);
  }
});
