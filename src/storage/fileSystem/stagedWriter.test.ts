import { expect, test } from "vitest";
import type { FileSink } from "./fileSink.js";
import { StagedWriter, stagedBytes } from "./stagedWriter.js";

/** A sink that keeps what it gets; each `put` waits for `next()`. */
function slowSink() {
  const waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  const got: Uint8Array[] = [];
  const buffers = new Set<ArrayBuffer>();
  const sink: FileSink & { closed: boolean } = {
    closed: false,
    put: async (buffer, byteLength) => {
      buffers.add(buffer);
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
      got.push(new Uint8Array(buffer, 0, byteLength).slice());
      return buffer;
    },
    close: async () => {
      sink.closed = true;
    },
    abandon: async () => {},
  };
  return { sink, waiting, got, buffers };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test("small pieces become large ones, in two buffers, the caller's bytes being copied", async () => {
  const { sink, waiting, got, buffers } = slowSink();
  const writer = new StagedWriter(sink);
  const piece = new Uint8Array(stagedBytes / 4);
  for (let index = 0; index < 8; index++) await writer.write(piece.fill(index));
  piece.fill(99);
  expect(waiting).toHaveLength(2);
  let written = false;
  const next = writer.write(Uint8Array.of(8)).then(() => {
    written = true;
  });
  await settled();
  expect(written).toBe(false);
  waiting[0]?.resolve();
  await next;
  waiting[1]?.resolve();
  const closing = writer.close();
  await settled();
  expect(sink.closed).toBe(false);
  waiting[2]?.resolve();
  await closing;
  expect(sink.closed).toBe(true);
  expect(buffers.size).toBe(2);
  expect(got.map(({ length }) => length)).toEqual([stagedBytes, stagedBytes, 1]);
  expect(got.flatMap((bytes) => [0, 1, 2, 3].map((part) => bytes[(part * stagedBytes) / 4]))).toEqual([
    ...[0, 1, 2, 3, 4, 5, 6, 7],
    ...[8, undefined, undefined, undefined],
  ]);
});

test("what fails on its way is told by a later call, not by a rejection that nobody hears", async () => {
  for (const end of ["write", "close"] as const) {
    const { sink, waiting } = slowSink();
    const writer = new StagedWriter(sink);
    await writer.write(new Uint8Array(stagedBytes));
    waiting[0]?.reject(new Error("full"));
    await settled();
    const later = end === "close" ? writer.close() : writer.write(new Uint8Array(2 * stagedBytes));
    later.catch(() => {});
    await settled();
    waiting[1]?.resolve();
    await expect(later).rejects.toThrow("full");
    expect(sink.closed).toBe(false);
  }
});
