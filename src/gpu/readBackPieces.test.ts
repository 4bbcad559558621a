import { describe, expect, it } from "vitest";
import { FakeDevice } from "./fakeDevice.testing.js";
import { type BufferPiece, readBackPieces } from "./readBackPieces.js";

function filled(device: FakeDevice, size: number, seed = 0) {
  const buffer = device.createBuffer({ label: `buffer ${seed}`, size, usage: 0x8c });
  for (let index = 0; index < size; index++) buffer.bytes[index] = (index * 31 + seed) >>> 3;
  return buffer;
}

const pieceOf = (buffer: ReturnType<typeof filled>, offset: number, length: number): BufferPiece => ({
  buffer: buffer.gpu,
  offset,
  length,
  leaf: `model/${buffer.label}`,
});

async function copies(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece.slice());
  return all;
}

describe("readBackPieces", () => {
  it("gives pieces in their order, at any offset, with two staging buffers that it destroys", async () => {
    const device = new FakeDevice();
    const [a, b] = [filled(device, 4000, 1), filled(device, 64, 2)];
    const pieces = [
      pieceOf(a, 0, 1000),
      pieceOf(a, 1000, 1000),
      pieceOf(a, 2000, 997),
      pieceOf(b, 3, 5),
      pieceOf(b, 9, 1),
      pieceOf(a, 2997, 1),
    ];
    const read = await copies(readBackPieces(device.gpu, pieces, 1000));
    expect(read).toEqual(
      pieces.map(({ buffer, offset, length }) => ((buffer as never) === a.gpu ? a : b).bytes.slice(offset, offset + length)),
    );
    expect(device.alive).toEqual([a, b]);
    expect(device.buffers.length).toBe(4);
  });

  it("reads small pieces together", async () => {
    const device = new FakeDevice();
    const buffers = Array.from({ length: 300 }, (_, index) => filled(device, 16, index));
    const pieces = buffers.map((buffer) => pieceOf(buffer, 0, 15));
    expect(await copies(readBackPieces(device.gpu, pieces, 16 * 1024))).toEqual(buffers.map(({ bytes }) => bytes.slice(0, 15)));
    expect(device.submits).toBe(2); // one copy, and one to free the staging buffer
  });

  it("fills the next buffer while the last is read, and not more", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 1000);
    const reading = readBackPieces(
      device.gpu,
      [0, 1, 2, 3, 4].map((at) => pieceOf(buffer, at * 200, 200)),
      200,
    );
    const submits: number[] = [];
    for await (const _ of reading) {
      submits.push(device.submits);
      expect(device.alive.length).toBeLessThanOrEqual(3);
    }
    expect(submits).toEqual([2, 3, 4, 5, 5]);
  });

  it("frees all when the caller stops, the signal aborts, the device is lost or a buffer is gone", async () => {
    const device = new FakeDevice();
    const buffer = filled(device, 64);
    const pieces = [pieceOf(buffer, 0, 32), pieceOf(buffer, 32, 32)];
    for await (const _ of readBackPieces(device.gpu, pieces, 32)) break;
    expect(device.alive).toEqual([buffer]);
    await expect(copies(readBackPieces(device.gpu, pieces, 32, { signal: AbortSignal.abort(new Error("enough")) }))).rejects.toThrow(
      "enough",
    );
    expect(device.alive).toEqual([buffer]);
    buffer.destroy();
    await expect(copies(readBackPieces(device.gpu, pieces, 32))).rejects.toMatchObject({ reason: "validation", leaf: "model/buffer 0" });
    device.lose();
    await expect(copies(readBackPieces(device.gpu, pieces, 32))).rejects.toMatchObject({ reason: "lost" });
    expect(device.alive).toEqual([]);
  });
});
