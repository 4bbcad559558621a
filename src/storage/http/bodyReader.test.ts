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
