import { describe, expect, test } from "vitest";
import { httpStorage } from "../http.js";

/** A storage whose `fetch` gives these answers, one after another, and then the file. */
function storageOf(answers: readonly unknown[]) {
  const left = [...answers];
  return httpStorage("https://example.org/run", { fetch: async () => (left.length > 0 ? left.shift() : new Response("file")) as Response });
}

const text = async (read: Promise<Uint8Array | undefined>) => new TextDecoder().decode(await read);

const used = () => {
  const response = new Response("x");
  response.body?.getReader();
  return response;
};

const streamed = (...pieces: unknown[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    }),
  );

describe("a fetch that answers with", () => {
  test.each([
    ["nothing", () => undefined],
    ["something like a response", () => ({ ok: true, status: 200 })],
    ["a response whose body was read before", used],
    ["pieces that are no bytes", () => streamed("text", {})],
    ["buffers instead of views", () => streamed(new ArrayBuffer(8))],
  ])("%s is told so, and takes nobody's turn", async (_, answer) => {
    // More than may go at once.
    const storage = storageOf(Array.from({ length: 20 }, answer));
    for (let attempt = 0; attempt < 20; attempt += 1) {
      await expect(storage.read("a")).rejects.toMatchObject({ name: "CheckpointValueError", message: expect.stringMatching(/fetch/) });
    }
    expect(await text(storage.read("a"))).toBe("file");
  });

  test("an opaque response is told what to do instead", async () => {
    const opaque = Object.defineProperties(new Response(null), { status: { value: 0 }, type: { value: "opaque" } });
    await expect(storageOf([opaque]).read("a")).rejects.toMatchObject({ reason: "status", message: expect.stringMatching(/no-cors/) });
  });

  test("bytes of another realm, or Node's buffers, is fine", async () => {
    expect(await text(storageOf([streamed(Buffer.from("by"), new TextEncoder().encode("tes"))]).read("a"))).toBe("bytes");
  });
});
