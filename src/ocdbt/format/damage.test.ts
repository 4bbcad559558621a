import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Field } from "../../bytes/fields.js";
import { CorruptCheckpointError } from "../../errors.js";
import { cpuTimeOf } from "../../tasks/cpuTime.testing.js";
import { btreeNode } from "./btreeNode.js";
import { openRecord, type RecordKind, readBody, sealEnvelope, writeBody } from "./envelope.js";
import { manifest } from "./manifest.js";
import { btreeNodes, hexBytes, hexOf, manifests, versionTreeNodes } from "./records.testing.js";
import { vectors } from "./vectors.testing.js";
import { versionTreeNode } from "./versionTreeNode.js";

interface Sample {
  readonly name: string;
  readonly kind: RecordKind;
  readonly field: Field<unknown>;
  readonly bytes: Uint8Array;
}

const samples: Sample[] = [
  ...Object.entries(vectors).map(([name, hex]) =>
    name.endsWith("Manifest")
      ? { name, kind: "manifest" as const, field: manifest as Field<unknown>, bytes: hexBytes(hex) }
      : { name, kind: "B+tree node" as const, field: btreeNode as Field<unknown>, bytes: hexBytes(hex) },
  ),
  { name: "a manifest with version-tree nodes", kind: "manifest", field: manifest as Field<unknown>, bytes: deepManifest() },
];

function deepManifest(): Uint8Array {
  return new Uint8Array(readFileSync(join(import.meta.dirname, "../../../e2e/fixtures/data/ocdbt/deep-versions/database/manifest.ocdbt")));
}

const open = ({ kind, field }: Sample, bytes: Uint8Array) => openRecord(kind, field, bytes, { path: "d/0", offset: 0 });

describe.each(samples)("$name", (sample) => {
  test("is whole", async () => {
    await expect(open(sample, sample.bytes)).resolves.toBeDefined();
  });

  test("cut at any byte is corrupt, with file and offset", async () => {
    for (let length = 0; length < sample.bytes.length; length++) {
      const error: unknown = await open(sample, sample.bytes.subarray(0, length)).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(CorruptCheckpointError);
      expect(error).toMatchObject({ path: "d/0", offset: expect.any(Number) as number });
    }
  });

  test("with any bit flipped is corrupt", async () => {
    for (let bit = 0; bit < sample.bytes.length * 8; bit++) {
      const damaged = sample.bytes.slice();
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      await expect(open(sample, damaged), `bit ${bit}`).rejects.toThrow(CorruptCheckpointError);
    }
  });
});

/** What may happen to a body whose checksum is right all the same. */
const damages = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("set" as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }) }),
    fc.record({ kind: fc.constant("varint" as const), at: fc.nat(), bits: fc.integer({ min: 7, max: 64 }) }),
    fc.record({ kind: fc.constant("cut" as const), at: fc.nat(), count: fc.nat({ max: 5 }) }),
    fc.record({ kind: fc.constant("insert" as const), at: fc.nat(), bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }) }),
  ),
  { minLength: 1, maxLength: 3 },
);

type Damage = typeof damages extends fc.Arbitrary<(infer One)[]> ? One : never;

function damaged(body: Uint8Array, damage: Damage): Uint8Array {
  const at = damage.at % (body.length + 1);
  const before = body.subarray(0, at);
  switch (damage.kind) {
    case "set":
      return Uint8Array.of(...before, ...damage.bytes, ...body.subarray(at + damage.bytes.length));
    case "varint":
      return Uint8Array.of(...before, ...hugeVarint(damage.bits), ...body.subarray(at + 1));
    case "cut":
      return Uint8Array.of(...before, ...body.subarray(at + damage.count));
    case "insert":
      return Uint8Array.of(...before, ...damage.bytes, ...body.subarray(at));
  }
}

/** The largest value of so many bits. */
function hugeVarint(bits: number): number[] {
  const bytes = new Array<number>(Math.floor((bits - 1) / 7)).fill(0xff);
  return [...bytes, (1 << (((bits - 1) % 7) + 1)) - 1];
}

/** A typed error, or a record that is encoded and decoded again to itself; in no more time and memory than the body warrants. */
async function checkDamaged(kind: RecordKind, field: Field<unknown>, body: Uint8Array): Promise<void> {
  const bytes = sealEnvelope(kind, { compression: "none", body });
  const open = () => openRecord(kind, field, bytes, { path: "d/0", offset: 0 }).catch((caught: unknown) => caught);
  const { value: outcome, cpuMs } = await cpuTimeOf<Promise<unknown>>(open);
  expect(cpuMs).toBeLessThan(2000);
  if (outcome instanceof Error) {
    expect(outcome).toBeInstanceOf(CorruptCheckpointError);
  } else {
    const again = writeBody(field, outcome);
    expect(hexOf(writeBody(field, readBody(field, again, { path: "d/0", offset: 0 })))).toBe(hexOf(again));
  }
}

describe("a body damaged under a right checksum is corrupt, or a record", () => {
  const check = async <Record>(kind: RecordKind, field: Field<Record>, records: fc.Arbitrary<Record>) => {
    await fc.assert(
      fc.asyncProperty(records, damages, (record, all) =>
        checkDamaged(kind, field as Field<unknown>, all.reduce(damaged, writeBody(field, record) as Uint8Array)),
      ),
      { numRuns: 600 },
    );
  };

  test("a manifest", () => check("manifest", manifest, manifests));
  test("a B+tree node", () => check("B+tree node", btreeNode, btreeNodes));
  test("a version-tree node", () => check("version-tree node", versionTreeNode, versionTreeNodes));

  test("random bytes", async () => {
    for (const [kind, field] of [
      ["manifest", manifest],
      ["B+tree node", btreeNode],
      ["version-tree node", versionTreeNode],
    ] as const) {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), (body) => checkDamaged(kind, field as Field<unknown>, body)),
        { numRuns: 500 },
      );
    }
  });
});
