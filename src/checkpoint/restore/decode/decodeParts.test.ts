import { beforeAll, describe, expect, it } from "vitest";
import { castFrom } from "../../../arrays/cast.js";
import { type Dtype, dtypes } from "../../../arrays/dtypes.js";
import { ZstdDecoder } from "../../../codecs/zstd/decoder.js";
import { bytes, encoded, rows, weights } from "../../../codecs/zstd/frames.testing.js";
import { loadZstd } from "../../../codecs/zstd/loadZstd.js";
import { splitFrame } from "../../../codecs/zstd/splitFrame.js";
import { decodeParts } from "./decodeParts.js";
import type { StoredPart } from "./parts.js";
import { PieceWriter } from "./pieceWriter.js";
import { ArrivingBytes } from "./storedBytes.js";

let decoder: ZstdDecoder;

beforeAll(async () => {
  const module = await loadZstd();
  if (module === undefined) throw new Error("no WebAssembly");
  decoder = new ZstdDecoder(module);
});

type Given = Partial<StoredPart> & { readonly stored: Uint8Array };

/** Parts one behind the other in a file, some bytes apart, and the file. */
function fileOf(given: readonly Given[], gap = 5) {
  const parts: StoredPart[] = [];
  const pieces: Uint8Array[] = [];
  let offset = 0;
  for (const { stored, ...some } of given) {
    const usual = {
      codec: "none",
      decodedLength: stored.length,
      elementOffset: 0,
      storedDtype: "uint8",
      byteOrder: "little",
      dtype: "uint8",
    } as const;
    parts.push({ ...usual, ...some, offset, length: stored.length });
    pieces.push(stored, new Uint8Array(gap).fill(0xee));
    offset += stored.length + gap;
  }
  return { parts, file: Uint8Array.from(Buffer.concat(pieces)) };
}

/** Decodes parts of a file that arrives in pieces: the wanted elements of each part, and how many pieces they came in. */
async function decode({ parts, file }: { parts: readonly StoredPart[]; file: Uint8Array }, pieceLength = 64 * 1024, arriving = 50_001) {
  const decoded = parts.map(({ decodedLength, storedDtype, dtype }) =>
    new Uint8Array((decodedLength / dtypes[storedDtype].itemsize) * dtypes[dtype].itemsize).fill(0xcc),
  );
  let pieces = 0;
  const writer = new PieceWriter({
    take: () => new ArrayBuffer(pieceLength),
    give({ buffer, runs }) {
      pieces += 1;
      for (const { part, offset, start, byteLength } of runs) {
        const { itemsize } = dtypes[parts[part]?.dtype ?? "uint8"];
        expect([offset % itemsize, start % itemsize, byteLength % itemsize]).toEqual([0, 0, 0]);
        decoded[part]?.set(new Uint8Array(buffer, start, byteLength), offset);
      }
    },
  });
  let at = 0;
  const arrived = new ArrivingBytes(0, async () => {
    const piece = file.slice(at, at + arriving);
    at += piece.length;
    return piece.length === 0 ? undefined : piece;
  });
  await decodeParts([{ path: "d/file", parts, bytes: arrived }], decoder, writer);
  return { decoded, pieces };
}

const failure = (given: readonly Given[]) => decode(fileOf(given)).catch((error: unknown) => error);

describe("decodeParts", () => {
  it("packs many short parts into few pieces, whatever their codecs and dtypes", async () => {
    const contents = Array.from({ length: 100 }, (_, index) => weights(4 * (index + 1), index + 1));
    const given = contents.map(async (content, index): Promise<Given> => {
      if (index % 3 === 0) return { stored: content, storedDtype: "float32", dtype: "float32" };
      return { stored: await encoded(content), codec: "zstd", decodedLength: content.length };
    });
    const { decoded, pieces } = await decode(fileOf(await Promise.all(given)));
    expect(decoded).toEqual(contents);
    expect(pieces).toBe(1);
  });

  it.each([
    ["weights", weights(1_300_000)],
    ["rows of text", rows(1_300_001)],
    ["zeros", new Uint8Array(3_000_000)],
  ])("decodes a long part of %s into pieces, in whatever portions its bytes arrive", async (_, content) => {
    const given = [{ stored: await encoded(content), codec: "zstd" as const, decodedLength: content.length }, { stored: content }];
    for (const arriving of [1009, 50_001, 10_000_000]) {
      const { decoded } = await decode(fileOf(given), 64 * 1024, arriving);
      expect(decoded.map((each) => Buffer.compare(each, content))).toEqual([0, 0]);
    }
  });

  it.each([
    ["float64", "float32"],
    ["bfloat16", "float32"],
    ["float32", "bfloat16"],
    ["uint8", "complex128"],
  ] as [Dtype, Dtype][])("casts %s to %s as the table has it", async (storedDtype, dtype) => {
    const content = weights(960_000).map((byte) => byte & 0x3f);
    const common = { storedDtype, dtype, decodedLength: content.length };
    const { decoded } = await decode(
      fileOf([
        { ...common, stored: content },
        { ...common, stored: await encoded(content), codec: "zstd" },
      ]),
    );
    const expected = castFrom(storedDtype, dtype)?.(content);
    expect(decoded.map((each) => Buffer.compare(each, expected ?? new Uint8Array()))).toEqual([0, 0]);
  });

  it("turns elements as they are stored into elements as they are in memory", async () => {
    const { decoded } = await decode(
      fileOf([
        { stored: Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7), storedDtype: "uint32", dtype: "uint32", byteOrder: "big" },
        { stored: Uint8Array.of(0x07, 0x08, 0xff), storedDtype: "int4", dtype: "int4" },
        { stored: Uint8Array.of(0x07, 0x08, 0xff), storedDtype: "uint4", dtype: "uint4" },
        { stored: Uint8Array.of(0, 1), storedDtype: "bool", dtype: "bool" },
      ]),
    );
    expect(decoded.map((each) => Array.from(each))).toEqual([
      [3, 2, 1, 0, 7, 6, 5, 4],
      [7, 0xf8, 0xff],
      [7, 8, 15],
      [0, 1],
    ]);
    expect(String(await failure([{ stored: Uint8Array.of(0, 1, 2), storedDtype: "bool", dtype: "bool" }]))).toContain("received a byte 2");
  });

  it("decodes the parts of a frame that was cut, each without the others", async () => {
    const content = weights(3_000_000);
    const frame = await encoded(content);
    const read = (offset: number, into: Uint8Array) => {
      const some = frame.subarray(offset, offset + into.length);
      into.set(some);
      return some.length;
    };
    const split = splitFrame(read, { offset: 0, length: frame.length }, content.length, 300_000);
    const cuts = (split?.parts ?? []).map(
      ({ offset, length, decodedLength }): Given => ({
        stored: frame.subarray(offset, offset + length),
        codec: "zstd",
        windowLog: split?.windowLog,
        decodedLength,
      }),
    );
    expect(cuts.length).toBeGreaterThan(5);
    const { decoded } = await decode(fileOf(cuts.toReversed()));
    expect(Buffer.compare(Buffer.concat(decoded.toReversed()), content)).toBe(0);
  });

  it("says where a part is damaged, and decodes the next one", async () => {
    const content = weights(400_000);
    const frame = await encoded(content);
    const zstd = { codec: "zstd" as const, decodedLength: content.length };
    const good = { ...zstd, stored: frame };
    const trouble = async (bad: Given) => String(await failure([{ stored: content.subarray(0, 10) }, bad, good]));
    const place = /^CorruptCheckpointError: d\/file at byte (\d+): expected (.*), received (.*); /;
    expect(await trouble({ ...zstd, stored: frame.subarray(0, 1000) })).toMatch(place);
    expect(await trouble({ ...zstd, stored: bytes(frame, Uint8Array.of(1, 2, 3)) })).toMatch(/3 more bytes/);
    expect(await trouble({ ...zstd, stored: bytes(frame, new Uint8Array(2_000_000)) })).toMatch(/more bytes/);
    expect(await trouble({ ...zstd, stored: frame, decodedLength: content.length + 4 })).toMatch(
      /expected 400004 bytes after decoding zstd, received 400000/,
    );
    expect(await trouble({ ...zstd, stored: frame, decodedLength: content.length - 4 })).toMatch(
      /expected 399996 bytes after decoding zstd, received 400000/,
    );
    expect(await trouble({ stored: content, decodedLength: content.length + 1 })).toMatch(place);
    const { decoded } = await decode(fileOf([good]));
    expect(Buffer.compare(decoded[0] ?? new Uint8Array(), content)).toBe(0);
  });

  it("tells of a file that ends too early", async () => {
    for (const codec of ["none", "zstd"] as const) {
      const content = weights(100_000);
      const { parts, file } = fileOf([
        { stored: codec === "none" ? content : await encoded(content), codec, decodedLength: content.length },
      ]);
      await expect(decode({ parts, file: file.subarray(0, 5000) })).rejects.toThrow(
        /d\/file at byte 0: expected \d+ bytes, received fewer/,
      );
    }
  });
});
