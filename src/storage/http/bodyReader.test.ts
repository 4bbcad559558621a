import { expect, test } from "vitest";
import { type BodyReader, bodyReader } from "./bodyReader.js";

const bytes = Uint8Array.from({ length: 2_100_000 }, (_, index) => index % 251);

/** What a reader gives, and how many buffers it came in. */
async function readAll(reader: BodyReader): Promise<{ bytes: Buffer; longest: number }> {
  const parts: Uint8Array[] = [];
  for (let result = await reader.read(); !result.done; result = await reader.read()) parts.push(result.value?.slice() ?? new Uint8Array());
  return { bytes: Buffer.concat(parts), longest: Math.max(...parts.map(({ byteLength }) => byteLength)) };
}

const byteStream = () => new Response(bytes).body as ReadableStream<Uint8Array>;

const plainStream = () =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, 300_000));
      controller.enqueue(bytes.subarray(300_000));
      controller.close();
    },
  });

test.each([
  ["of fetch", byteStream],
  ["that brings its own memory", plainStream],
])("reads a body %s, whatever length is told", async (_, body) => {
  for (const length of [undefined, bytes.byteLength, 0, 1e15]) {
    expect((await readAll(bodyReader(body(), length))).bytes.equals(bytes)).toBe(true);
  }
});

test("takes no more memory than 1 MiB, and little for a short body", async () => {
  const enqueued = (length: number) => new ReadableStream({ type: "bytes", start: (controller) => fill(controller, length) });
  expect((await readAll(bodyReader(enqueued(2_100_000), undefined))).longest).toBe(1024 * 1024);
  expect((await readAll(bodyReader(enqueued(20_000), 10_000))).longest).toBe(10_000);
  expect((await readAll(bodyReader(enqueued(20_000), 100))).longest).toBe(4 * 1024);
});

/** A body that comes in pieces of the given length, and the fewest bytes that each read of it asked for. */
function watchedBody(length: number, pieces: number) {
  const asked: number[] = [];
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      for (let count = 0; count < pieces; count += 1) controller.enqueue(new Uint8Array(length).fill(1));
      controller.close();
    },
  });
  const { getReader } = body;
  body.getReader = ((options: { mode: "byob" }) => {
    const reader = getReader.call(body, options);
    const read = reader.read.bind(reader) as (view: Uint8Array, options: { min: number }) => Promise<ReadableStreamReadResult<Uint8Array>>;
    reader.read = ((view: Uint8Array, options: { min: number }) => {
      asked.push(options.min);
      return read(view, options);
    }) as never;
    return reader;
  }) as never;
  return { body, asked };
}

test("asks for what comes at once, where nobody says how long a piece may take", async () => {
  const { body, asked } = watchedBody(5000, 4);
  await readAll(bodyReader(body, 20_000));
  expect(new Set(asked)).toEqual(new Set([1]));
});

test("lets pieces become longer, each to four times the one before at most, and never asks for more than is left", async () => {
  const { body, asked } = watchedBody(64 * 1024, 48);
  const length = 48 * 64 * 1024;
  const memory = 1024 * 1024;
  const given: number[] = [];
  const reader = bodyReader(body, length, 1_000_000);
  for (let next = await reader.read(); !next.done; next = await reader.read()) given.push(next.value?.byteLength ?? 0);
  expect(given.reduce((sum, piece) => sum + piece, 0)).toBe(length);
  let left = length;
  for (const [at, min] of asked.entries()) {
    expect(min).toBe(at === 0 ? 1 : Math.max(1, Math.min(4 * (given[at - 1] ?? 0), left, memory)));
    left -= given[at] ?? 0;
  }
});

test("passes on that a body breaks off", async () => {
  const body = new ReadableStream({ type: "bytes", start: (controller) => controller.error(new TypeError("terminated")) });
  await expect(bodyReader(body, 10).read()).rejects.toThrow("terminated");
});

test("cancels a body", async () => {
  let reason: unknown;
  const body = new ReadableStream({
    type: "bytes",
    cancel(given) {
      reason = given;
    },
  });
  await bodyReader(body, 10).cancel("enough");
  expect(reason).toBe("enough");
});

function fill(controller: ReadableByteStreamController, length: number): void {
  controller.enqueue(bytes.slice(0, length));
  controller.close();
}
