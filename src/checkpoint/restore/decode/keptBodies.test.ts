import { afterEach, describe, expect, it, vi } from "vitest";
import { sniffLength } from "../../../storage/http/sniff.js";
import { type BodyNews, KeptBodies, type WorkersAsk } from "./keptBodies.js";
import type { ToWorker } from "./messages.js";

afterEach(() => vi.unstubAllGlobals());

const url = "https://example.com/d/file";
const question = { offset: 64, length: 100, headLength: 0, idleTimeoutMs: 1000 };

/** A worker that only notes what it is told. */
function keptBodies(asking: WorkersAsk = { outcome: "unknown" }) {
  const told: ToWorker[] = [];
  let breakDown = (_error: Error) => {};
  const broken = new Promise<never>((_, reject) => {
    breakDown = reject;
  });
  const bodies = new KeptBodies({ post: (message) => told.push(message as ToWorker), broken }, asking);
  const kept = Object.assign(bodies, bodies.ofRun(3));
  const idOf = (at = -1) => (told.filter(({ kind }) => kind === "fetch").at(at) as ToWorker & { kind: "fetch" }).id;
  return { kept, told, asking, idOf, breakDown: (error: Error) => breakDown(error) };
}

const answered = (id: number, status = 206): BodyNews => ({
  kind: "answered",
  id,
  status,
  headers: [
    ["etag", '"1"'],
    ["retry-after", "7"],
  ],
  url,
  type: "cors",
  isKept: status === 206,
});

const stubFetch = (status: number) => {
  const asked = vi.fn(async (_url: string, _init: RequestInit) => new Response("all", { status }));
  vi.stubGlobal("fetch", asked);
  return asked;
};

const soon = () => new Promise((resolve) => setTimeout(resolve));

/** A body that the worker keeps. */
async function keptBody(headLength = 0) {
  const worker = keptBodies();
  const controller = new AbortController();
  const asked = worker.kept.fetch(url, { signal: controller.signal }, { ...question, headLength });
  const id = worker.idOf();
  worker.kept.hear(answered(id));
  const response = await asked;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  return { ...worker, id, response, reader, controller };
}

describe("KeptBodies", () => {
  it("has the worker ask, with headers as plain data, and gives its answer", async () => {
    const { told, response, kept, id } = await keptBody();
    const plain = { url, init: { headers: [] }, run: 3, ...question };
    expect(told).toEqual([{ kind: "fetch", id, ...plain }]);
    expect(response).toMatchObject({ status: 206, url, type: "cors" });
    expect(response.headers.get("etag")).toBe('"1"');
    expect(kept.keepsBodyOf(response)).toBe(true);
  });

  it("lets the worker read once the answer was looked at and its body is read here, and says so once", async () => {
    const { told, kept, reader, id } = await keptBody();
    await soon();
    expect(told.map(({ kind }) => kind)).toEqual(["fetch"]);
    for (const byteLength of [40, 60]) {
      const piece = reader.read();
      kept.hear({ kind: "arrived", id, byteLength });
      expect((await piece).value?.length).toBe(byteLength);
    }
    kept.hear({ kind: "arrivedAll", id });
    expect((await reader.read()).done).toBe(true);
    expect(told.slice(1)).toEqual([{ kind: "read", id }]);
  });

  it("gives stand-ins of the right length, and the head's own bytes", async () => {
    const { kept, reader, id } = await keptBody(sniffLength);
    const head = Uint8Array.of(1, 2, 3);
    const byteLength = 9 * 1024 * 1024;
    kept.hear({ kind: "arrived", id, byteLength, head });
    kept.hear({ kind: "arrivedAll", id });
    const pieces: Uint8Array[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
    expect(pieces[0]).toEqual(head);
    expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBe(byteLength);
    expect(pieces.map((piece) => kept.isStandIn(piece))).toEqual(pieces.map(() => true));
    expect(kept.isStandIn(new Uint8Array(3))).toBe(false);
  });

  it("asks itself where the worker got no part of a file, and has workers ask no more where it gets one", async () => {
    for (const [status, outcome] of [
      [200, "unknown"],
      [206, "refused"],
    ] as const) {
      const here = stubFetch(status);
      const { kept, asking, told, idOf } = keptBodies();
      const asked = kept.fetch(url, {}, question);
      kept.hear(status === 200 ? answered(idOf(), 403) : { kind: "broken", id: idOf(), reason: "refused by a policy" });
      const response = await asked;
      expect(response.status).toBe(status);
      expect(kept.keepsBodyOf(response)).toBe(false);
      expect(here).toHaveBeenCalledTimes(1);
      expect(asking.outcome).toBe(outcome);
      if (outcome === "unknown") continue;
      await kept.fetch(url, {}, question);
      expect(told.length).toBe(1);
    }
  });

  it("asks workers again after one request failed, once any of them was given a part, before or meanwhile", async () => {
    const here = stubFetch(206);
    const { kept, asking, told, idOf } = keptBodies();
    const [failing, given] = [kept.fetch(url, {}, question), kept.fetch(url, {}, question)];
    kept.hear({ kind: "broken", id: idOf(0), reason: "network error" });
    await failing;
    expect(asking.outcome).toBe("refused");
    kept.hear(answered(idOf(1)));
    await given;
    expect(asking.outcome).toBe("given");
    const later = kept.fetch(url, {}, question);
    kept.hear({ kind: "broken", id: idOf(), reason: "network error" });
    expect((await later).status).toBe(206);
    expect(asking.outcome).toBe("given");
    expect(here).toHaveBeenCalledTimes(2);
    expect(told.filter(({ kind }) => kind === "fetch")).toHaveLength(3);
  });

  it.each([408, 429, 500, 503])("passes a refusal that may pass on, %i, and does not ask a second time before its time", async (status) => {
    const here = stubFetch(206);
    const { kept, asking, idOf } = keptBodies();
    const asked = kept.fetch(url, {}, question);
    kept.hear({ ...answered(idOf(), status), refusal: new TextEncoder().encode("<Code>SlowDown</Code>") } as BodyNews);
    const response = await asked;
    expect(response.status).toBe(status);
    expect(await new Response(response.body).text()).toBe("<Code>SlowDown</Code>");
    expect(response.headers.get("retry-after")).toBe("7");
    expect(here).not.toHaveBeenCalled();
    expect(asking.outcome).toBe("unknown");
  });

  it("tells a body that broke off, one that is given up, and an abort, after which late news are nobody's", async () => {
    const broken = await keptBody();
    broken.kept.hear({ kind: "arrived", id: broken.id, byteLength: 5 });
    broken.kept.hear({ kind: "broken", id: broken.id, reason: "no byte came" });
    await expect(broken.reader.read().then(() => broken.reader.read())).rejects.toThrow("no byte came");

    const left = await keptBody();
    await left.reader.cancel();
    expect(left.told.at(-1)).toEqual({ kind: "drop", id: left.id });

    const aborted = await keptBody();
    const reading = aborted.reader.read();
    aborted.controller.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(aborted.told.at(-1)).toEqual({ kind: "drop", id: aborted.id });
    for (const { kept, id } of [broken, left, aborted]) {
      for (const kind of ["arrived", "arrivedAll"] as const) kept.hear({ kind, id, byteLength: 1 });
      kept.hear({ kind: "broken", id, reason: "late" });
    }
  });

  it("rejects with the signal's reason where it aborts before the answer, and asks nobody", async () => {
    const here = stubFetch(206);
    const { kept, told } = keptBodies();
    const controller = new AbortController();
    const asked = kept.fetch(url, { signal: controller.signal }, question);
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(asked).rejects.toBe(reason);
    await expect(kept.fetch(url, { signal: controller.signal }, question)).rejects.toBe(reason);
    expect(told.map(({ kind }) => kind)).toEqual(["fetch", "drop"]);
    expect(here).not.toHaveBeenCalled();
  });

  it("fails all with a worker that breaks, and what is asked of it later", async () => {
    const here = stubFetch(206);
    const { kept, reader, breakDown } = await keptBody();
    const [reading, asking] = [reader.read(), kept.fetch(url, {}, question)];
    breakDown(new Error("it broke"));
    await expect(reading).rejects.toThrow("it broke");
    await expect(asking).rejects.toThrow("it broke");
    await expect(kept.fetch(url, {}, question)).rejects.toThrow("it broke");
    expect(here).not.toHaveBeenCalled();
  });

  it("numbers requests over all jobs, so that late news of one are not of the next", () => {
    const [first, second] = [keptBodies(), keptBodies()];
    for (const { kept } of [first, second]) void kept.fetch(url, {}, question);
    expect(first.idOf()).not.toBe(second.idOf());
  });
});
