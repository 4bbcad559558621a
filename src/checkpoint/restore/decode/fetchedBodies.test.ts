import { afterEach, describe, expect, it, vi } from "vitest";
import { FetchedBodies, type FetchedBody } from "./fetchedBodies.js";
import type { BodyRequest, FromWorker } from "./messages.js";

afterEach(() => vi.unstubAllGlobals());

const mebibyte = 1024 * 1024;

const requestOf = (id: number, offset: number, length = 8): BodyRequest => ({
  id,
  run: 3,
  url: `https://example.com/${id}`,
  init: {},
  offset,
  length,
  headLength: 0,
  idleTimeoutMs: 60_000,
});

/** Bodies that the test fills, by the number of their request; `type`: those of browsers that read into given memory, or of others. */
function fetchedBodies(type?: "bytes") {
  const told: FromWorker[] = [];
  const bodies = new Map<string, ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>>();
  const signals = new Map<string, AbortSignal>();
  vi.stubGlobal("fetch", async (url: string, { signal }: { signal: AbortSignal }) => {
    const name = url.slice(url.lastIndexOf("/") + 1);
    signals.set(name, signal);
    const start = (controller: ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array>) => {
      bodies.set(name, controller);
      signal.addEventListener("abort", () => controller.error(signal.reason));
    };
    return new Response(new ReadableStream({ type, start } as UnderlyingDefaultSource), { status: 206 });
  });
  const heard: number[] = [];
  const fetched = new FetchedBodies(
    (message) => told.push(message),
    () => heard.push(told.length),
  );
  const body = (id: number) => bodies.get(`${id}`) as ReadableByteStreamController;
  const open = async (request: BodyRequest) => {
    await fetched.fetch(request);
    fetched.read(request.id);
  };
  return { fetched, told, body, open, heard, isOpen: (id: number) => signals.get(`${id}`)?.aborted === false };
}

const bytesOf = async (body: FetchedBody | undefined) => [...((await body?.next()) ?? [])];

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

describe.each([["bytes"], [undefined]] as const)("FetchedBodies over streams of type %s", (type) => {
  it("gives a body from where it goes on, and tells the first piece and the end", async () => {
    const { fetched, told, body, open, heard } = fetchedBodies(type);
    await open(requestOf(1, 10, 5));
    expect(heard.length).toBe(1);
    expect(fetched.at(3, 11)).toBeUndefined();
    body(1).enqueue(Uint8Array.of(1, 2, 3));
    expect(await bytesOf(fetched.at(3, 10))).toEqual([1, 2, 3]);
    body(1).enqueue(Uint8Array.of(4, 5));
    body(1).close();
    expect(await bytesOf(fetched.at(3, 13))).toEqual([4, 5]);
    expect(await fetched.at(3, 15)?.next()).toBeUndefined();
    expect(fetched.at(3, 15)).toBeUndefined();
    expect(told).toMatchObject([
      { kind: "answered", id: 1, status: 206, isKept: true },
      { kind: "arrived", id: 1, byteLength: 3 },
      { kind: "arrived", id: 1, byteLength: 2 },
      { kind: "arrivedAll", id: 1 },
    ]);
  });

  it("gives nothing of a body that nobody said may be read", async () => {
    const { fetched, told, body } = fetchedBodies(type);
    await fetched.fetch(requestOf(1, 10));
    body(1).enqueue(Uint8Array.of(1));
    await soon();
    expect(fetched.at(3, 10)).toBeUndefined();
    expect(told.map(({ kind }) => kind)).toEqual(["answered"]);
  });

  it("reads the end of a body that was taken up again before one that was asked for earlier and begins there", async () => {
    const { fetched, body, told, open } = fetchedBodies(type);
    for (const request of [requestOf(1, 0), requestOf(2, 8)]) await open(request);
    body(1).enqueue(Uint8Array.of(1, 2));
    expect(await bytesOf(fetched.at(3, 0))).toEqual([1, 2]);
    body(1).error(new TypeError("it broke"));
    expect(await fetched.at(3, 2)?.next()).toBeUndefined();
    await open(requestOf(3, 2, 6));
    body(3).enqueue(Uint8Array.of(3, 4, 5, 6, 7, 8));
    body(3).close();
    body(2).enqueue(Uint8Array.of(9));
    expect((await bytesOf(fetched.at(3, 2))).length).toBe(6);
    expect(await fetched.at(3, 8)?.next()).toBeUndefined();
    expect(told.at(-1)).toMatchObject({ kind: "arrivedAll", id: 3 });
    expect(await bytesOf(fetched.at(3, 8))).toEqual([9]);
  });

  it("tells that a body broke off in its first piece, and gives the next one that begins there", async () => {
    const { fetched, body, told, open } = fetchedBodies(type);
    await open(requestOf(1, 0));
    body(1).error(new TypeError("it broke"));
    await soon();
    expect(told.at(-1)).toMatchObject({ kind: "broken", id: 1, reason: "it broke" });
    await open(requestOf(2, 0));
    body(2).enqueue(Uint8Array.of(7));
    expect(await fetched.at(3, 0)?.next()).toBeUndefined();
    expect(await bytesOf(fetched.at(3, 0))).toEqual([7]);
  });

  it("tells of a body that brings more than was asked for, and gives none of what is too much", async () => {
    const { fetched, body, told, open } = fetchedBodies(type);
    await open(requestOf(1, 0, 2));
    body(1).enqueue(Uint8Array.of(1, 2, 3));
    await soon();
    expect(told.at(-1)).toMatchObject({ kind: "arrived", id: 1, byteLength: 3 });
    expect(await fetched.at(3, 0)?.next()).toBeUndefined();
  });

  it("tells of a long body by the mebibytes, and its first bytes where they are wanted", async () => {
    const { fetched, body, told, open } = fetchedBodies(type);
    await open({ ...requestOf(1, 0, 15 * mebibyte), headLength: 4 });
    const pieces = 60;
    for (let count = 0; count < pieces; count += 1) body(1).enqueue(new Uint8Array(mebibyte / 4));
    body(1).close();
    for (let given = 0; given < (pieces * mebibyte) / 4; ) given += (await fetched.at(3, given)?.next())?.length ?? 0;
    const arrived = told.flatMap((message) => (message.kind === "arrived" ? [message] : []));
    expect(arrived[0]?.head).toEqual(new Uint8Array(4));
    expect(arrived.slice(1).every(({ head }) => head === undefined)).toBe(true);
    expect(arrived.length).toBeLessThanOrEqual(1 + (pieces * mebibyte) / 4 / (2 * mebibyte));
  });

  it("aborts what is dropped, also while somebody waits for it", async () => {
    const { fetched, open, isOpen } = fetchedBodies(type);
    for (const request of [requestOf(1, 0), requestOf(2, 8)]) await open(request);
    const waiting = fetched.at(3, 0)?.next();
    fetched.drop(1);
    expect(await waiting).toBeUndefined();
    expect(fetched.at(3, 0)).toBeUndefined();
    expect([isOpen(1), isOpen(2)]).toEqual([false, true]);
  });

  it("reads the bodies of a run to their ends, and those only", async () => {
    const { fetched, body, told, open } = fetchedBodies(type);
    await open(requestOf(1, 0, 2));
    await open({ ...requestOf(2, 0, 2), run: 4 });
    await fetched.fetch(requestOf(3, 2, 2));
    for (const id of [1, 2, 3]) {
      body(id).enqueue(Uint8Array.of(id, id));
      body(id).close();
    }
    expect(await bytesOf(fetched.at(3, 0))).toEqual([1, 1]);
    await fetched.drain(3);
    expect(told.flatMap((message) => (message.kind === "arrivedAll" ? [message.id] : []))).toEqual([1]);
    expect(await bytesOf(fetched.at(4, 0))).toEqual([2, 2]);
  });

  it("ends a body that brings nothing for too long", async () => {
    const { fetched, open, told, isOpen } = fetchedBodies(type);
    await open({ ...requestOf(1, 0), idleTimeoutMs: 1 });
    expect(await fetched.at(3, 0)?.next()).toBeUndefined();
    expect(told.at(-1)).toEqual({ kind: "broken", id: 1, reason: "no byte came for 1 ms" });
    expect(isOpen(1)).toBe(false);
  });
});

it("keeps no answer but a part, and tells where there was none", async () => {
  const told: FromWorker[] = [];
  const fetched = new FetchedBodies(
    (message) => told.push(message),
    () => {},
  );
  const signals: AbortSignal[] = [];
  vi.stubGlobal("fetch", async (url: string, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    if (url.endsWith("/2")) throw new TypeError("refused");
    return new Response("<html>", { status: 200 });
  });
  await fetched.fetch(requestOf(1, 0));
  await fetched.fetch(requestOf(2, 0));
  fetched.read(1);
  expect(told).toMatchObject([
    { kind: "answered", id: 1, status: 200, isKept: false },
    { kind: "broken", id: 2 },
  ]);
  expect(fetched.at(3, 0)).toBeUndefined();
  expect(signals.every(({ aborted }) => aborted)).toBe(true);
});

it("tells how a refusal that may pass begins, which may say why, and no more of it", async () => {
  const told: FromWorker[] = [];
  const fetched = new FetchedBodies(
    (message) => told.push(message),
    () => {},
  );
  const text = `<Error><Code>SlowDown</Code>${" ".repeat(5000)}</Error>`;
  vi.stubGlobal("fetch", async (url: string) => new Response(url.endsWith("/1") ? text : null, { status: 503 }));
  await fetched.fetch(requestOf(1, 0));
  await fetched.fetch(requestOf(2, 0));
  const refusals = told.map((message) => (message.kind === "answered" ? new TextDecoder().decode(message.refusal) : message.kind));
  expect(refusals).toEqual([text.slice(0, 4096), ""]);
});
