import { describe, expect, test } from "vitest";
import { crc32c } from "../../bytes/crc32c.js";
import { type Field, u8 } from "../../bytes/fields.js";
import { CorruptCheckpointError } from "../../errors.js";
import { btreeNode } from "./btreeNode.js";
import { openEnvelope, openRecord, type RecordKind, sealEnvelope, sealRecord } from "./envelope.js";
import { manifest } from "./manifest.js";
import { hexBytes, hexOf } from "./records.testing.js";
import { vectors } from "./vectors.testing.js";

const place = { path: "d/0", offset: 1000 };

const kindOf = (name: string): RecordKind => (name.endsWith("Manifest") ? "manifest" : "B+tree node");

test.each(Object.entries(vectors))("opens and seals %s to the same bytes", (name, hex) => {
  const kind = kindOf(name);
  const envelope = openEnvelope(kind, hexBytes(hex), place);
  expect(envelope.compression).toBe(name.startsWith("orbax") ? "zstd" : "none");
  expect(hexOf(sealEnvelope(kind, envelope))).toBe(hexOf(hexBytes(hex)));
});

test("seals uncompressed records to the bytes they were opened from", async () => {
  async function check<Record>(kind: RecordKind, field: Field<Record>, hex: string): Promise<void> {
    const record = await openRecord(kind, field, hexBytes(hex), place);
    expect(hexOf(sealRecord(kind, field, record))).toBe(hexOf(hexBytes(hex)));
  }
  await check("manifest", manifest, vectors.handmadeManifest);
  await check("manifest", manifest, vectors.emptyManifest);
  await check("B+tree node", btreeNode, vectors.handmadeLeaf);
  await check("B+tree node", btreeNode, vectors.interiorNode);
});

describe("what is wrong is said, with file and offset", () => {
  const leaf = hexBytes(vectors.handmadeLeaf);
  const changed = (at: number, ...bytes: number[]) => {
    const copy = leaf.slice();
    copy.set(bytes, at);
    return copy;
  };
  const opening = (bytes: Uint8Array, kind: RecordKind = "B+tree node") => openRecord<unknown>(kind, btreeNode, bytes, place);

  test.each<[string, () => Promise<unknown>, string]>([
    [
      "another file",
      () => opening(changed(0, 1, 2, 3, 4)),
      "byte 1004: expected a B+tree node of OCDBT, which begins with 0x0cdb20de, received 0x01020304",
    ],
    ["another record", () => opening(leaf, "manifest"), "received a B+tree node"],
    ["too few bytes", () => opening(leaf.subarray(0, 15)), "16 bytes or more, received 15 bytes"],
    ["a short file", () => opening(leaf.subarray(0, 191)), "expected a B+tree node of 192 bytes, as its header says, received 191 bytes"],
    ["a long file", () => opening(Uint8Array.of(...leaf, 0)), "received 193 bytes"],
    ["a wrong checksum", () => opening(changed(100, 0)), "expected a B+tree node with CRC-32C 0x5b6a55a6, received bytes with 0x"],
    ["another version", () => opening(sealed(leaf, 12, 1)), "expected version 0 of a B+tree node, received version 1"],
    ["another compression", () => opening(sealed(leaf, 13, 2)), "expected compression 0 (none) or 1 (zstd), received 2"],
    ["no zstd where it says so", () => opening(sealed(leaf, 13, 1)), "expected one zstd frame"],
  ])("%s", async (_, open, message) => {
    await expect(open()).rejects.toThrow(CorruptCheckpointError);
    await expect(open()).rejects.toThrow(message);
    await expect(open()).rejects.toMatchObject({ path: "d/0", offset: expect.any(Number) as number });
  });

  test("bytes behind the record, and where in the file", async () => {
    const longer = sealEnvelope("B+tree node", { compression: "none", body: Uint8Array.of(1, 2) });
    await expect(openRecord("B+tree node", u8, longer, place)).rejects.toThrow("d/0 at byte 1015: expected the end, received 1 more bytes");
  });
});

/** The record with a byte changed and its checksum made right again. */
function sealed(record: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = record.slice();
  copy[at] = byte;
  new DataView(copy.buffer).setUint32(copy.length - 4, crc32c(copy.subarray(0, -4)), true);
  return copy;
}
