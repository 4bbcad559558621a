import { expect, test } from "vitest";
import { FakeWorker } from "../../tasks/fakeWorker.testing.js";
import { WorkerPool } from "../../tasks/workerPool.js";
import type { FromEncoder, ToEncoder } from "./encodeMessages.js";
import { encodeOnWorker } from "./encodeOnWorker.js";

/** A worker that is lent, and what it is going to answer. */
async function lent(answer: (question: ToEncoder) => FromEncoder | undefined) {
  const fake = new FakeWorker();
  const pool = new WorkerPool({ createWorker: () => fake.worker, size: 1, idleMs: 1000 });
  fake.postMessage = (message) => {
    fake.posted.push(message);
    const answered = answer(message as ToEncoder);
    if (answered !== undefined) queueMicrotask(() => fake.say(answered));
  };
  queueMicrotask(() => fake.say({ kind: "ready" }));
  const lease = await pool.acquire();
  if (lease === undefined) throw new Error("no worker");
  return { fake, lease };
}

const frame = Uint8Array.of(9);

test("posts just the bytes, and gives the worker back", async () => {
  const memory = Uint8Array.of(1, 2, 3, 4);
  for (const bytes of [memory, memory.subarray(1, 3)]) {
    const { fake, lease } = await lent(() => ({ kind: "done", frame }));
    expect(await encodeOnWorker(lease, bytes, {})).toBe(frame);
    expect(new Uint8Array((fake.posted as ToEncoder[])[0]?.buffer ?? new ArrayBuffer())).toEqual(bytes);
    expect(fake.terminated).toBe(false);
  }
});

test("a worker that fails, ends, or is no longer wanted is ended, and says so", async () => {
  const failing = await lent(({ buffer }) => {
    structuredClone(buffer, { transfer: [buffer] }); // as a real message does
    return { kind: "failed", message: "RuntimeError: abort" };
  });
  await expect(encodeOnWorker(failing.lease, new Uint8Array(5), {})).rejects.toMatchObject({
    name: "StorageError",
    reason: "worker",
    message: expect.stringContaining("5 bytes (RuntimeError: abort)"),
  });
  const ending = await lent(() => undefined);
  const encoding = encodeOnWorker(ending.lease, new Uint8Array(5), {});
  ending.fake.fail("it is gone");
  await expect(encoding).rejects.toMatchObject({ name: "StorageError", reason: "worker" });
  const aborted = await lent(() => undefined);
  const controller = new AbortController();
  const unwanted = encodeOnWorker(aborted.lease, new Uint8Array(5), controller);
  controller.abort("enough");
  await expect(unwanted).rejects.toBe("enough");
  for (const { fake } of [failing, ending, aborted]) expect(fake.terminated).toBe(true);
});
