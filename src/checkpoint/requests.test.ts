import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type RunningServer, startServer } from "../../e2e/server/server.mjs";
import { endOf } from "../bytes/ranges.js";
import { CheckpointDtypeMismatchError, type CheckpointErrorKind, isCheckpointError } from "../errors.js";
import { FakeDevice } from "../gpu/fakeDevice.testing.js";
import { httpStorage } from "../storage/http.js";
import { memoryStorage } from "../storage/memory.js";
import { bytesNeeded, type Files, filesOfStep, fixtureFolder, itemsOf, mergedRuns, type NeededBytes } from "./fixtureSteps.testing.js";
import type { RestoreOptions } from "./restore/restoreOptions.js";
import { OrbaxCheckpointStore } from "./store.js";
import type { Templates } from "./template/restoredTypes.js";
import { type ShapeDtypeStruct, shapeDtypeStruct } from "./template/template.js";

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

/** Serves a fixture's store, or some files. */
async function serve(root: string | Files): Promise<RunningServer> {
  const server = await startServer({ root: typeof root === "string" ? join(fixtureFolder, root, "checkpoints") : root });
  running.push(server);
  return server;
}

/** Most requests that a restore of the whole step may take. */
function mostRequests(files: Files, step: number, needed: readonly NeededBytes[]): number {
  const named = (name: string) => needed.filter(({ path }) => path.endsWith(name)).length;
  return 2 + 3 * itemsOf(files, step).length + named("/_strings.json") + named("/array_metadatas/process_0") + mergedRuns(needed);
}

describe("requests", () => {
  it.each([
    ["digits", 400, 24],
    ["digits", 1200, 24],
    ["thousand", 1, 12],
    ["bare", 1],
    ["trees", 2],
    ["trees", 4],
    ["sharded", 1],
    ["dtypes", 1],
    ["dtypes-item", 1],
    ["dtypes-item", 2],
    ["x64", 2],
  ] as readonly [string, number, number?][])("of %s step %i are as few as its index allows", async (fixture, step, most = 1000) => {
    const server = await serve(fixture);
    const files = filesOfStep(fixture, step);
    const allowed = mostRequests(files, step, await bytesNeeded(files, step));
    await new OrbaxCheckpointStore(server.url).restore(step);
    const asked = server.requests.map(({ path, range }) => `${path} ${range}`);
    expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(Math.min(allowed, most));
    expect(new Set(asked).size).toBe(asked.length);
  });

  it.each([
    ["digits", 1200, 5],
    ["thousand", 1, 4],
    ["bare", 1, 4],
    ["trees", 1, 3],
  ] as const)("of %s step %i that do not depend on each other go out together: %i round trips", async (fixture, step, trips) => {
    const server = await serve(fixture);
    const waves = new Waves();
    const store = new OrbaxCheckpointStore(httpStorage(server.url, { fetch: waves.fetch, concurrency: 1000 }));
    await store.restore(step);
    expect(waves.asked.length, JSON.stringify(waves.asked, null, 1)).toBeLessThanOrEqual(trips);
  });
});

/** A template for the model of the digits fixture, with its first kernel asked for as something else. */
const modelWith = (kernel: ShapeDtypeStruct) => ({
  hidden1: { bias: { value: shapeDtypeStruct([128], "float32") }, kernel: { value: kernel } },
  hidden2: { bias: { value: shapeDtypeStruct([64], "float32") }, kernel: { value: shapeDtypeStruct([128, 64], "float32") } },
  out: { bias: { value: shapeDtypeStruct([10], "float32") }, kernel: { value: shapeDtypeStruct([64, 10], "float32") } },
});

interface Refused {
  readonly because: string;
  readonly fixture: "digits" | "x64";
  readonly kind: CheckpointErrorKind;
  readonly options: RestoreOptions & { readonly templates?: Templates };
  readonly maxBufferSize?: number;
}

const refused: readonly Refused[] = [
  {
    because: "a template has another dtype",
    fixture: "digits",
    kind: "DtypeMismatch",
    options: { templates: { model: modelWith(shapeDtypeStruct([64, 128], "float16")) } },
  },
  {
    because: "64-bit arrays are bound for a device, with a template and without",
    fixture: "x64",
    kind: "DtypeMismatch",
    options: { templates: { extensions: { count: 0, rate: 0, narrow: null, numpy: shapeDtypeStruct([5], "int64") } } },
  },
  {
    because: "no cast is known",
    fixture: "digits",
    kind: "DtypeMismatch",
    options: { castDtypes: true, templates: { model: modelWith(shapeDtypeStruct([64, 128], "float8_e8m0fnu")) } },
  },
  {
    because: "a template has another shape",
    fixture: "digits",
    kind: "TreeMismatch",
    options: { templates: { model: modelWith(shapeDtypeStruct([128, 64], "float32")) } },
  },
  { because: "a template lacks leaves", fixture: "digits", kind: "TreeMismatch", options: { templates: { optimizer: {} } } },
  { because: "an array is too large for the device", fixture: "digits", kind: "Device", options: {}, maxBufferSize: 1024 },
];

describe("a restore that is refused", () => {
  const withDtypes = refused.map((refusal) => ({ ...refusal, dtypes: "with" }));
  const without = refused.map((refusal) => ({ ...refusal, dtypes: "without" }));

  it.each([...withDtypes, ...without])(
    "because $because requests no byte of a chunk and makes no buffer, $dtypes the dtypes item",
    async (refusal) => {
      const step = refusal.fixture === "x64" ? 1 : 1200;
      const files = filesOfStep(refusal.fixture, step);
      const chunks = (await bytesNeeded(files, step)).filter(({ kind }) => kind === "chunk");
      if (refusal.dtypes === "without") files.delete(`${step}/dtypes/metadata`);
      const server = await serve(files);
      const device = new FakeDevice(refusal.maxBufferSize === undefined ? {} : { maxBufferSize: refusal.maxBufferSize });
      const work = new OrbaxCheckpointStore(server.url).restore(step, { device: device.gpu, ...refusal.options });
      const error = await work.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(isCheckpointError(error, refusal.kind), `${error}`).toBe(true);
      expect(chunks.length).toBeGreaterThan(0);
      expect(server.requests.filter((request) => chunks.some((chunk) => touches(request, chunk)))).toEqual([]);
      expect(device.buffers).toEqual([]);
    },
  );

  it("names all mismatches of all items, templated ones first", async () => {
    const files = filesOfStep("x64", 1);
    const { options } = refused.find(({ fixture }) => fixture === "x64") ?? { options: {} };
    const work = new OrbaxCheckpointStore(memoryStorage(files)).restore(1, { device: new FakeDevice().gpu, ...options });
    const error = await work.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(CheckpointDtypeMismatchError);
    const { mismatches, x64Disabled } = error as CheckpointDtypeMismatchError;
    expect(x64Disabled).toBe(true);
    expect(mismatches[0]).toEqual({ item: "extensions", leaf: "numpy", saved: "int64", restored: "int32" });
    expect(mismatches.slice(1).map(({ item }) => item)).toEqual(Array.from({ length: 32 }, () => "model"));
  });
});

/** Whether a request asks for a byte of a chunk. */
function touches({ path, range }: RunningServer["requests"][number], chunk: NeededBytes): boolean {
  const [, first = "0", last = "Infinity"] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
  return path === `/${chunk.path}` && Number(first) < endOf(chunk) && Number(last) >= chunk.offset;
}

/**
 * A fetch whose answers come all at once when all are there and no further request has come for a while: the waves are the round trips in
 * a row.
 */
class Waves {
  readonly asked: string[][] = [];
  #waiting: (() => void)[] = [];
  readonly #answers = new Set<Promise<Response>>();

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (this.#waiting.length === 0) {
      this.asked.push([]);
      void this.#send();
    }
    this.asked.at(-1)?.push(`${new URL(url).pathname} ${new Headers(init.headers).get("range") ?? ""}`);
    const answer = fetch(url, init).then(async (response) => new Response(await response.arrayBuffer(), response));
    this.#answers.add(answer);
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return answer;
  };

  async #send(): Promise<void> {
    for (let seen = -1; seen !== this.#waiting.length; ) {
      seen = this.#waiting.length;
      await Promise.all(this.#answers);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
