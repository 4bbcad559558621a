import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { Field } from "../../bytes/fields.js";
import { zstd } from "../../codecs/zstd.js";
import { btreeNode } from "./btreeNode.js";
import { magics, openEnvelope, type RecordKind, readBody, sealEnvelope, writeBody } from "./envelope.js";
import { manifest } from "./manifest.js";
import { versionTreeNode } from "./versionTreeNode.js";

const folder = join(import.meta.dirname, "../../../e2e/fixtures/data");

const fields: { readonly [Kind in RecordKind]: Field<unknown> } = {
  manifest: manifest as Field<unknown>,
  "B+tree node": btreeNode as Field<unknown>,
  "version-tree node": versionTreeNode as Field<unknown>,
};

const kinds = Object.keys(magics) as RecordKind[];

interface FoundRecord {
  readonly kind: RecordKind;
  readonly bytes: Uint8Array;
}

/** Every record of the kind in the file: its magic, and a length that stays within the file. */
function* recordsIn(file: Buffer): Generator<FoundRecord> {
  for (const kind of kinds) {
    const magic = Buffer.alloc(4);
    magic.writeUInt32BE(magics[kind]);
    for (let at = file.indexOf(magic); at >= 0; at = file.indexOf(magic, at + 4)) {
      const length = at + 12 <= file.length ? file.readBigUInt64LE(at + 4) : 0n;
      if (length >= 16n && length <= BigInt(file.length - at)) yield { kind, bytes: file.subarray(at, at + Number(length)) };
    }
  }
}

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => /(^|\/)(d\/[0-9a-f]{32}|manifest\.(ocdbt|[0-9a-f]{16}))$/.test(path))
  .sort();

/** Decodes and encodes the record; the body before compression and, around the stored body, the envelope are the same bytes. */
async function checkRoundTrip({ kind, bytes }: FoundRecord, path: string): Promise<void> {
  const place = { path, offset: 0 };
  const envelope = openEnvelope(kind, bytes, place);
  expect(Buffer.compare(sealEnvelope(kind, envelope), bytes)).toBe(0);
  const body = envelope.compression === "none" ? envelope.body : await zstd.decode(envelope.body, { longestDecoded: 2 ** 27, path });
  const record = readBody(fields[kind], body, place);
  expect(Buffer.compare(writeBody(fields[kind], record), body)).toBe(0);
}

describe("records that TensorStore wrote", () => {
  test("decode and encode to the same bytes, all of the fixtures", async () => {
    const counts = { manifest: 0, "B+tree node": 0, "version-tree node": 0 };
    for (const path of files) {
      for (const record of recordsIn(readFileSync(join(folder, path)))) {
        await checkRoundTrip(record, relative(folder, path)).catch((cause: unknown) => {
          throw new Error(path, { cause });
        });
        counts[record.kind]++;
      }
    }
    expect(counts.manifest).toBe(files.filter((path) => path.includes("manifest.")).length);
    expect(counts["B+tree node"]).toBeGreaterThan(1000);
    expect(counts["version-tree node"]).toBeGreaterThan(100);
  });
});
