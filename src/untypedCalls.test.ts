import { describe, expect, it, test, vi } from "vitest";
import * as browser from "./index.js";
import { isCheckpointError, type OpenedCheckpoint, type OpenedStep, type ReadableStorage } from "./index.js";
import * as node from "./node.js";

// What plain JavaScript may give in place of what the types ask for: each call, each argument, each option.

/** Counts everything that is asked of it. */
function countingStorage() {
  const inner = browser.memoryStorage();
  let calls = 0;
  const counted = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      return typeof member !== "function"
        ? member
        : (...given: unknown[]) => {
            calls += 1;
            return member.apply(target, given);
          };
    },
  });
  return { storage: counted, calls: () => calls };
}

const untouched = countingStorage();
const { storage } = untouched;

async function savedStep() {
  const saved = browser.memoryStorage();
  const store = new browser.OrbaxCheckpointStore(saved);
  await store.save(1, { model: { w: new Float32Array(4) } });
  return { saved, store };
}

let step: OpenedStep;
let item: OpenedCheckpoint;
const { saved, store: savedStore } = await savedStep();
step = await savedStore.open(1);
item = await browser.openCheckpoint(saved, { step: 1, item: "model" });
const restored = await savedStore.restore(1);

const store = () => new browser.OrbaxCheckpointStore(storage);
const items = { model: { w: 1 } };
const url = "https://example.org/run";
const zip = new Blob([]);

type Call = (options: never) => unknown;

const wrongKinds = {
  signal: [{}, null, "now", new AbortController()],
  onProgress: [5, null, {}],
  device: [5, null, {}, Promise.resolve({})],
  boolean: [1, "yes", null],
  integer: ["5", 1.5, null, -1, 2n],
  lock: ["never", true, null],
} as const;
const context = { signal: wrongKinds.signal, onProgress: wrongKinds.onProgress };
const defaults = { device: wrongKinds.device, enableX64: wrongKinds.boolean, readConcurrentBytes: [...wrongKinds.integer, 5] };
const reading = { ...context, ...defaults, castDtypes: wrongKinds.boolean };
const restoring = { ...reading, select: [5, null, [], ["a", 1], {}], missing: [1n, null, "ignore"] };
const locking = { signal: wrongKinds.signal, ifLocked: wrongKinds.lock };
const copied = { ...context, steps: [5, null, []] };

/** Each call that takes options, with wrong values for each of them. */
const calls: Readonly<Record<string, readonly [Call, Readonly<Record<string, readonly unknown[]>>]>> = {
  openCheckpoint: [
    (options) => browser.openCheckpoint(storage, options),
    { ...defaults, signal: wrongKinds.signal, step: ["5", null, -1, 1n], item: [5, 1n, null, "", "a/b"], generation: ["1", 0, -1n, null] },
  ],
  "restore of an opened checkpoint": [(options) => item.restore(options), restoring],
  "read of an opened checkpoint": [
    (options) => item.read("w", options),
    { ...reading, usage: ["4", null, 0, 1.5, -1, 2 ** 31, 2 ** 40], into: [5, null, {}] },
  ],
  "restore of an opened step": [(options) => step.restore(options), { ...restoring, templates: [5, null, "model", []] }],
  OrbaxCheckpointStore: [(options) => new browser.OrbaxCheckpointStore(storage, options), { ...defaults, maxToKeep: ["5", 0, 1n] }],
  open: [(options) => store().open(1, options), { signal: wrongKinds.signal }],
  restore: [(options) => store().restore(1, options), { ...restoring, templates: [5, null, "model", []] }],
  readMetadata: [(options) => store().readMetadata(1, options), { signal: wrongKinds.signal }],
  listSteps: [(options) => store().listSteps(options), { signal: wrongKinds.signal }],
  latestStep: [(options) => store().latestStep(options), { signal: wrongKinds.signal }],
  bestStep: [(options) => store().bestStep("loss", options), { signal: wrongKinds.signal, mode: ["MIN", null, 1] }],
  delete: [(options) => store().delete(1, options), locking],
  save: [
    (options) => store().save(1, items, options),
    {
      ...context,
      ...locking,
      epoch: ["1", 1.5, 2n],
      metrics: [5, null, [1], "loss"],
      producer: [5, "me", { name: "me" }],
      extra: [5, null, [1]],
      overwrite: wrongKinds.boolean,
      like: [5, null, "model", []],
      compression: ["gzip", null, true],
    },
  ],
  copySteps: [(options) => browser.copySteps(storage, storage, options), { ...copied, ...locking, overwrite: wrongKinds.boolean }],
  zipSteps: [(options) => browser.zipSteps(storage, options), copied],
  shapeDtypeStruct: [(options) => browser.shapeDtypeStruct([2], "int8", options), { usage: ["4", null, 0], into: [5, null, {}] }],
  writeIndex: [(options) => browser.writeIndex(storage, options), { signal: wrongKinds.signal }],
  httpStorage: [
    (options) => browser.httpStorage(url, options),
    {
      fetch: [5, null, {}],
      headers: [5, null, "authorization: Bearer s3cret", [["authorization", "Bearer s3cret"]]],
      credentials: [true, null, "always"],
      retries: wrongKinds.integer,
      concurrency: [...wrongKinds.integer, 0],
      absentStatus: [403, null, ["403"], [200], [-1], [4000]],
      wholeFileBytes: wrongKinds.integer,
      idleTimeoutMs: [...wrongKinds.integer, 0],
      endpoint: [5, null],
      region: [5, null, ""],
    },
  ],
  mirrored: [
    (options) => browser.mirrored(storage, storage, options),
    { limit: [...wrongKinds.integer, 0], onProgress: wrongKinds.onProgress },
  ],
  download: [(options) => browser.mirrored(storage, storage).download("", options), { signal: wrongKinds.signal }],
  zipStorage: [(options) => browser.zipStorage(zip, options), { mostBytes: ["5", null, -1, Number.NaN] }],
};

/** Every other argument: wrong values, and words of the error for all of them. */
const given: Readonly<Record<string, readonly [call: (value: never) => unknown, wrong: readonly unknown[], says: RegExp]>> = {
  openCheckpoint: [
    (value) => browser.openCheckpoint(value),
    [5, null, {}, undefined, 1n],
    /directory is a URL, a folder's path, or a storage/,
  ],
  OrbaxCheckpointStore: [(value) => new browser.OrbaxCheckpointStore(value), [5, null, {}, undefined, 1n], /directory is a URL/],
  "copySteps from": [(value) => browser.copySteps(value, storage), [5, null, {}, 1n], /directory is a URL/],
  "copySteps to": [(value) => browser.copySteps(storage, value), [5, null, {}, 1n], /directory is a URL/],
  zipSteps: [(value) => browser.zipSteps(value), [5, null, {}, 1n], /directory is a URL/],
  resolveCheckpointDir: [(value) => browser.resolveCheckpointDir(value, null), [5, 1n, {}], /checkpointDir .* is a text or null/],
  "resolveCheckpointDir of a run": [(value) => browser.resolveCheckpointDir(null, value), [5, 1n, {}], /runDir .* is a text or null/],
  read: [(value) => item.read(value), [5, 1n, null, undefined], /the path that read takes is a text/],
  region: [(value) => item.read("w", { region: value }), [5, "0:2", [[0, 1n]], [0, 1]], /region/],
  save: [(value) => store().save(value, items), [1n, "1", 1.5, null, -1], /the step that save takes is a non-negative integer/],
  "items of save": [(value) => store().save(1, value), [5, null, [1], undefined, 1n], /what save takes as items is an object of trees/],
  bestStep: [(value) => store().bestStep(value), [5, null, undefined, 1n], /the metric that bestStep takes is a text/],
  hostArray: [
    (value) => browser.hostArray(value, new Uint8Array()),
    [5, null, undefined],
    /what hostArray takes first is \{ shape, dtype \}/,
  ],
  "hostArray's shape": [
    (value) => browser.hostArray({ shape: value, dtype: "int8" }, new Uint8Array()),
    [5, [1n], [-1]],
    /hostArray's shape is/,
  ],
  "hostArray's dtype": [
    (value) => browser.hostArray({ shape: [1], dtype: value }, new Uint8Array()),
    [5, "f4", null],
    /hostArray's dtype is/,
  ],
  "hostArray's bytes": [
    (value) => browser.hostArray({ shape: [4], dtype: "int8" }, value),
    [4, null, [1, 2, 3, 4]],
    /as bytes is a Uint8Array/,
  ],
  pyFloat: [(value) => browser.pyFloat(value), ["2", 2n, null], /what pyFloat takes is a number/],
  "shapeDtypeStruct's shape": [(value) => browser.shapeDtypeStruct(value, "int8"), [5, null, [1n], "2"], /shape is a list/],
  "shapeDtypeStruct's dtype": [(value) => browser.shapeDtypeStruct([1], value), [5, null, "f4"], /dtype is a dtype by its JAX name/],
  "CheckpointMetadata.toDict": [(value) => browser.CheckpointMetadata.toDict(value), [5, null], /toDict takes is an object/],
  "Producer.toDict": [(value) => browser.Producer.toDict(value), [5, null], /toDict takes is an object/],
  directoryStorage: [(value) => browser.directoryStorage(value), [5, null, {}, "runs"], /is the handle of a folder/],
  opfsStorage: [(value) => browser.opfsStorage(value), [5, null, 1n], /is a folder's path as text/],
  nodeStorage: [(value) => node.nodeStorage(value), [5, null, 1n, new URL("file:///x")], /is a folder's path as text/],
  memoryStorage: [(value) => browser.memoryStorage(value), [5, null, []], /is an object or a Map of bytes by path/],
  "files of memoryStorage": [(value) => browser.memoryStorage({ a: value }), [5, "text", [1]], /memoryStorage's file a is a Uint8Array/],
  zipStorage: [(value) => browser.zipStorage(value), [5, null, "a.zip", new Uint8Array()], /is a File or Blob; make one/],
  rememberDirectory: [(value) => browser.rememberDirectory(value, undefined), [5, null], /the name that rememberDirectory takes is a text/],
  "what rememberDirectory keeps": [(value) => browser.rememberDirectory("a", value), [5, null, {}], /is the handle of a folder/],
  recallDirectory: [(value) => browser.recallDirectory(value), [5, null], /the name that recallDirectory takes is a text/],
  writeIndex: [(value) => browser.writeIndex(value), [5, null, "runs", { read() {}, list() {} }], /is a storage with read, list, create/],
  "mirrored's source": [
    (value) => browser.mirrored(value, storage),
    [5, null, {}],
    /the source that mirrored takes is a URL, or a storage/,
  ],
  "mirrored's cache": [(value) => browser.mirrored(storage, value), [5, null, {}], /the cache that mirrored takes is a folder's path/],
  "mirrored's folder": [
    (value) => browser.mirrored(storage, storage).download(value),
    [5, null],
    /the folder that download takes is a text/,
  ],
};

async function piecesOf(place: ReadableStorage, options: never): Promise<unknown> {
  for await (const piece of place.stream?.("a", { offset: 0, length: 1 }, options) ?? []) return piece;
  return undefined;
}

/** What a call throws or rejects with; a stream's first read counts as the call. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("it was taken");
}

describe("an option of the wrong kind is an error that names it, before anything is asked, of", () => {
  test.each(Object.entries(calls))("%s", async (_, [call, options]) => {
    const fetching = vi.spyOn(globalThis, "fetch");
    for (const [name, values] of Object.entries(options)) {
      for (const value of values) {
        const error = await failureOf(() => call({ [name]: value } as never));
        expect(isCheckpointError(error, "Value"), `${name}: ${String(error)}`).toBe(true);
        expect(String(error)).toMatch(new RegExp(`'s option ${name} is .+, not `));
        expect(String(error)).not.toContain("s3cret");
      }
    }
    for (const value of [null, 5, "fast", []]) {
      const error = await failureOf(() => call(value as never));
      expect(isCheckpointError(error, "Value"), String(error)).toBe(true);
      expect(String(error)).toMatch(/takes as options is an object, not (null|5|"fast"|an array)$/);
    }
    expect(untouched.calls()).toBe(0);
    expect(fetching).not.toHaveBeenCalled();
  });
});

describe("a misspelt option is an error that names the one that is meant, before anything is asked, of", () => {
  test.each(Object.entries(calls))("%s", async (_, [call, options]) => {
    const [known = ""] = Object.keys(options);
    const snakeCase = known.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const name of [`${known}s`, known.toUpperCase(), known.slice(0, -2) + known.at(-1), snakeCase]) {
      if (name === known) continue;
      const error = await failureOf(() => call({ [name]: 1 } as never));
      expect(isCheckpointError(error, "Value"), `${name}: ${String(error)}`).toBe(true);
      expect(String(error)).toMatch(new RegExp(`has no option ${name}; it takes ${known}$`));
    }
    const error = await failureOf(() => call({ [`${known}s`]: undefined, [known]: "?" } as never));
    expect(String(error)).toContain(`'s option ${known} is`);
    expect(untouched.calls()).toBe(0);
  });

  test("options of other calls are left alone", () => {
    const wide = { run: "runs/digits", constructor: 1, step: 5, signal: new AbortController().signal };
    expect(() => new browser.OrbaxCheckpointStore(storage, wide as object)).not.toThrow();
  });

  test("a step is not restored onto the template of an item, nor an item onto those of a step", async () => {
    await expect(item.restore({ templates: {} } as never)).rejects.toThrow(/restore has no option templates; it takes template$/);
    await expect(step.restore({ template: {} } as never)).rejects.toThrow(/restore has no option template; it takes templates$/);
  });
});

describe("an argument of the wrong kind is an error that says what it is, before anything is asked, of", () => {
  test.each(Object.entries(given))("%s", async (_, [call, values, says]) => {
    for (const value of values) {
      const error = await failureOf(() => call(value as never));
      expect(isCheckpointError(error, "Value"), `${String(value)}: ${String(error)}`).toBe(true);
      expect(String(error)).toMatch(says);
    }
    expect(untouched.calls()).toBe(0);
  });
});

describe("a path, a range, or bytes of the wrong kind", () => {
  const storages: readonly (readonly [string, ReadableStorage])[] = [
    ["memoryStorage", browser.memoryStorage()],
    ["httpStorage", browser.httpStorage(url, { fetch: () => Promise.reject(new Error("asked")) })],
    ["opfsStorage", browser.opfsStorage("runs")],
    ["nodeStorage", node.nodeStorage("no-such-folder")],
    ["zipStorage", browser.zipStorage(zip)],
    ["mirrored", browser.mirrored(storage, storage)],
  ];
  it.each(storages)("of %s", async (_, place) => {
    for (const path of [5, 1n, null, undefined, {}]) {
      expect(String(await failureOf(() => place.read(path as never)))).toMatch(/Value.*a path inside a storage is a text, not/);
      expect(String(await failureOf(() => place.list(path as never)))).toMatch(/Value.*a prefix is a text, not/);
    }
    for (const range of [5, null, "0-5", [0, 5]])
      expect(String(await failureOf(() => place.read("a", { range: range as never })))).toMatch(
        /Value.*a range is \{ offset, length \}, not/,
      );
  });

  it.each(storages)("of %s, as of options", async (_, place) => {
    const methods = [
      ["read", (options: never) => place.read("a", options)],
      ["list", (options: never) => place.list("", options)],
      ["size", (options: never) => place.size?.("a", options)],
      ["stream", (options: never) => piecesOf(place, options)],
    ] as const;
    for (const [name, call] of methods) {
      if (!(name in place)) continue;
      for (const options of [5, null, "fast"])
        expect(String(await failureOf(() => call(options as never)))).toMatch(/Value.*takes as options is an object, not/);
      for (const signal of wrongKinds.signal) {
        const error = await failureOf(() => call({ signal } as never));
        expect(isCheckpointError(error, "Value"), `${name}: ${String(error)}`).toBe(true);
        expect(String(error)).toContain(`${name}'s option signal is an AbortSignal, not `);
      }
    }
  });

  it("of options is a rejection of every call that changes a place", async () => {
    for (const place of [browser.memoryStorage(), browser.opfsStorage("runs"), node.nodeStorage("no-such-folder")]) {
      for (const options of [null, { signal: new AbortController() }] as never[]) {
        const changes = [
          place.write("a", new Uint8Array(1), options),
          place.create("a", options),
          place.move("a", "b", options),
          place.remove("a", options),
        ];
        for (const change of changes) await expect(change).rejects.toMatchObject({ name: "CheckpointValueError" });
      }
    }
  });

  it("is not written", async () => {
    const memory = browser.memoryStorage();
    const writer = await memory.create("b");
    for (const bytes of ["text", 5, null, [1], new ArrayBuffer(2)]) {
      expect(String(await failureOf(() => memory.write("a", bytes as never)))).toMatch(/what is written to a is a Uint8Array, not/);
      expect(String(await failureOf(() => writer.write(bytes as never)))).toMatch(/what a writer takes is a Uint8Array, not/);
    }
    expect(await memory.list("")).toEqual({ files: [], directories: [] });
  });
});

describe("headers", () => {
  const asked = (headers: unknown) => {
    const seen: Headers[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      seen.push(new Headers(init.headers));
      return new Response("x");
    };
    const place = browser.httpStorage(url, { headers: headers as never, fetch });
    return { seen, read: () => place.read("a") };
  };

  it("may be a Headers object, and a function may make one", async () => {
    for (const headers of [new Headers({ "x-key": "1" }), async () => new Headers({ "x-key": "1" })]) {
      const { seen, read } = asked(headers);
      await read();
      expect(seen.map((sent) => sent.get("x-key"))).toEqual(["1"]);
    }
  });

  it("that are no texts are told by their names, never by what else they hold", async () => {
    for (const [headers, says] of [
      [{ authorization: undefined }, /the value of authorization in httpStorage's headers is a text, not undefined/],
      [() => ({ authorization: 5 }), /the value of authorization in httpStorage's headers is a text, not a number/],
      [async () => "Bearer s3cret", /what the function headers of httpStorage makes is .*, not a string/],
      [() => null, /makes is .*, not null/],
    ] as const) {
      const { seen, read } = asked(headers);
      const error = await failureOf(read);
      expect(isCheckpointError(error, "Value"), String(error)).toBe(true);
      expect(String(error)).toMatch(says);
      expect(String(error)).not.toContain("s3cret");
      expect(seen).toEqual([]);
    }
  });
});

test("every public function has its line here", () => {
  const lines = new Set([...Object.keys(calls), ...Object.keys(given)].map((name) => name.split(/[ '.]/)[0] ?? ""));
  const functions = Object.entries({ ...browser, ...node })
    .filter(([name, value]) => typeof value === "function" && !name.endsWith("Error"))
    .map(([name]) => name);
  // Takes any tree; what it makes of one is looked at by the restore.
  const others = ["templateOf"];
  expect(functions.filter((name) => !lines.has(name) && !others.includes(name))).toEqual([]);
  expect(restored.leaf(5 as never, null as never)).toBeUndefined();
});
