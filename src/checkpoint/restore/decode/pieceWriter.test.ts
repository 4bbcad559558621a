import { describe, expect, it } from "vitest";
import type { Piece } from "./parts.js";
import { PieceWriter } from "./pieceWriter.js";

/** A writer with pieces of `byteLength` bytes, and what it gave away. */
function writer(byteLength: number) {
  const given: { bytes: number[]; runs: Piece["runs"] }[] = [];
  const pieces = new PieceWriter({
    take: () => new ArrayBuffer(byteLength),
    give: ({ buffer, runs }) => {
      given.push({ bytes: Array.from(new Uint8Array(buffer)), runs });
    },
  });
  return { pieces, given };
}

/** Writes bytes of a part as `PartWriter` does. */
async function put(pieces: PieceWriter, part: number, bytes: readonly number[]): Promise<void> {
  pieces.align();
  for (let done = 0; done < bytes.length; ) {
    const room = await pieces.room();
    const some = bytes.slice(done, done + room.length);
    room.set(some);
    pieces.commit(part, done, some.length);
    done += some.length;
  }
}

const sequence = (length: number, start = 0) => Array.from({ length }, (_, index) => (start + index) % 256);

describe("PieceWriter", () => {
  it("packs short parts into one piece, each at a multiple of 16 bytes", async () => {
    const { pieces, given } = writer(64);
    await put(pieces, 0, [1, 2, 3]);
    await put(pieces, 1, sequence(16, 10));
    await put(pieces, 2, [7]);
    expect(given).toEqual([]);
    await pieces.flush();
    expect(given.map(({ runs }) => runs)).toEqual([
      [
        { part: 0, offset: 0, start: 0, byteLength: 3 },
        { part: 1, offset: 0, start: 16, byteLength: 16 },
        { part: 2, offset: 0, start: 32, byteLength: 1 },
      ],
    ]);
    expect(given[0]?.bytes.slice(16, 33)).toEqual([...sequence(16, 10), 7]);
  });

  it("cuts a long part at the end of each piece, and joins what comes bit by bit", async () => {
    const { pieces, given } = writer(32);
    await put(pieces, 0, [1]);
    pieces.align();
    for (const [index, byte] of sequence(40).entries()) {
      (await pieces.room())[0] = byte;
      pieces.commit(1, index, 1);
    }
    await pieces.flush();
    expect(given.map(({ runs }) => runs)).toEqual([
      [
        { part: 0, offset: 0, start: 0, byteLength: 1 },
        { part: 1, offset: 0, start: 16, byteLength: 16 },
      ],
      [{ part: 1, offset: 16, start: 0, byteLength: 24 }],
    ]);
    expect(given[1]?.bytes.slice(0, 24)).toEqual(sequence(24, 16));
  });

  it("gives nothing where nothing was written, and takes no memory", async () => {
    const { pieces, given } = writer(32);
    await pieces.flush();
    await pieces.room();
    await pieces.flush();
    expect(given).toEqual([]);
  });
});
