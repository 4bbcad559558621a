import fc from "fast-check";
import { expect } from "vitest";
import { compareBytes } from "../../bytes/compare.js";
import type { Field } from "../../bytes/fields.js";
import type { BtreeNode, InteriorEntry } from "./btreeNode.js";
import type { Compression, OcdbtConfig } from "./config.js";
import type { DataFile } from "./dataFileTable.js";
import { readBody, writeBody } from "./envelope.js";
import { missingRange } from "./indirectReference.js";
import { LeafEntries, type LeafEntry } from "./leafEntries.js";
import type { LeafValue } from "./leafValues.js";
import type { Manifest } from "./manifest.js";
import type { Version } from "./versionList.js";
import { greatestHeight, type VersionNodeReference } from "./versionNodeReferences.js";
import type { VersionTreeNode } from "./versionTreeNode.js";

/** Bytes of a text of hex digits, blanks apart. */
export const hexBytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));

/** Hex digits of bytes. */
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Reads a record from its bare body. */
export const readHex = <Record>(field: Field<Record>, hex: string): Record => readBody(field, hexBytes(hex), { path: "record", offset: 0 });

/** Checks that a record is encoded as this hex, and decoded from it. */
export function checkHex<Record>(field: Field<Record>, record: Record, hex: string): void {
  expect(hexOf(writeBody(field, record))).toBe(hex.replaceAll(/\s/g, ""));
  expect(readHex(field, hex)).toEqual(record);
}

/** Checks that random records come back, and are encoded to the same bytes again. */
export function checkRoundTrips<Record>(field: Field<Record>, records: fc.Arbitrary<Record>, numRuns = 200): void {
  fc.assert(
    fc.property(records, (record) => {
      const body = writeBody(field, record);
      const decoded = readBody(field, body, { path: "record", offset: 0 });
      expect(decoded).toEqual(record);
      expect(hexOf(writeBody(field, decoded))).toBe(hexOf(body));
    }),
    { numRuns },
  );
}

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const u62 = fc.bigInt({ min: 0n, max: 2n ** 62n - 1n });

/** Base and relative paths, as Orbax's and others. */
export const dataFiles: fc.Arbitrary<readonly DataFile[]> = fc.uniqueArray(
  fc.record({
    basePath: fc.constantFrom("", "ocdbt.process_0/", "ocdbt.process_1/", "a/ü/"),
    relativePath: fc
      .constantFrom("d/", "é/")
      .chain((folder) => fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom("0", "a", "ö") }).map((name) => folder + name)),
  }),
  { maxLength: 5, selector: ({ basePath, relativePath }) => basePath + relativePath },
);

const someDataFiles = dataFiles.filter((files) => files.length > 0);

const compression: fc.Arbitrary<Compression> = fc.oneof(
  fc.constant({ method: "none" as const }),
  fc.record({ method: fc.constant("zstd" as const), level: fc.integer({ min: -131072, max: 22 }) }),
);

export const configs: fc.Arbitrary<OcdbtConfig> = fc.record({
  uuid: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  manifestKind: fc.constantFrom("single" as const, "numbered" as const),
  maxInlineValueBytes: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  maxDecodedNodeBytes: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  versionTreeArityLog2: fc.integer({ min: 1, max: 16 }),
  compression,
});

const statistics = { numKeys: u64, numTreeBytes: u64, numIndirectValueBytes: u64 };

const references = (files: readonly DataFile[]) => ({ fileId: fc.nat({ max: files.length - 1 }), offset: u62, length: u62 });

/** Distinct keys, ascending; short and of few letters, so that they share prefixes. */
const sortedKeys = fc
  .uniqueArray(fc.uint8Array({ maxLength: 6, max: 2 }), { minLength: 1, maxLength: 12, selector: (key) => hexOf(key) })
  .map((keys) => keys.sort(compareBytes));

const leafValues = (files: readonly DataFile[]): fc.Arbitrary<LeafValue> => {
  const inline = fc.record({ kind: fc.constant("inline" as const), bytes: fc.uint8Array({ maxLength: 10 }) });
  return files.length === 0 ? inline : fc.oneof(inline, fc.record({ kind: fc.constant("indirect" as const), ...references(files) }));
};

const leafNodes: fc.Arbitrary<BtreeNode> = fc.tuple(dataFiles, sortedKeys).chain(([files, keys]) => {
  const entries = fc.tuple(...keys.map((key): fc.Arbitrary<LeafEntry> => leafValues(files).map((value) => ({ key, value }))));
  return entries.map((all) => ({ kind: "leaf" as const, height: 0 as const, files, entries: LeafEntries.of(all) }));
});

const interiorNodes: fc.Arbitrary<BtreeNode> = fc
  .tuple(someDataFiles, sortedKeys, fc.integer({ min: 1, max: 255 }))
  .chain(([files, keys, height]) => {
    const children = keys.map(
      (key): fc.Arbitrary<InteriorEntry> =>
        fc.record({ key: fc.constant(key), subtreeCommonPrefixLength: fc.nat({ max: key.length }), ...references(files), ...statistics }),
    );
    return fc.tuple(...children).map((all) => ({ kind: "interior" as const, height, files, children: all }));
  });

export const btreeNodes: fc.Arbitrary<BtreeNode> = fc.oneof(leafNodes, interiorNodes);

/** Versions of one group, the last of them of the generation that is given. */
const versionLists = (files: readonly DataFile[], arityLog2: number, last: bigint): fc.Arbitrary<readonly Version[]> => {
  const most = (last - 1n) % 2n ** BigInt(arityLog2);
  return fc.uniqueArray(fc.bigInt({ min: 0n, max: most }), { maxLength: 6 }).chain((offsets) => {
    const generations = [...new Set([...offsets.map((offset) => last - offset), last])].sort((a, b) => (a < b ? -1 : 1));
    return fc.tuple(...generations.map((generation) => versions(files, generation)));
  });
};

const versions = (files: readonly DataFile[], generation: bigint): fc.Arbitrary<Version> => {
  const commitTime = u64;
  const full = { generation: fc.constant(generation), rootHeight: fc.nat({ max: 255 }), ...references(files), ...statistics, commitTime };
  const empty = { rootHeight: 0, ...missingRange, numKeys: 0n, numTreeBytes: 0n, numIndirectValueBytes: 0n };
  return fc.oneof(
    fc.record(full),
    fc.record({ fileId: fc.nat({ max: files.length - 1 }), commitTime }).map((rest) => ({ generation, ...empty, ...rest })),
  );
};

const versionNode = (files: readonly DataFile[], generation: bigint, height: number): fc.Arbitrary<VersionNodeReference> =>
  fc.record({
    generation: fc.constant(generation),
    height: fc.constant(height),
    ...references(files),
    numGenerations: fc.constantFrom(0n, 1n),
    commitTime: u64,
  });

/** The generations at which the groups before `last` end, by the height of the manifest's node that holds them. */
function fullGroups(arityLog2: number, last: bigint): { readonly generation: bigint; readonly height: number }[] {
  const groups: { generation: bigint; height: number }[] = [];
  const start = (generation: bigint, height: number) =>
    ((generation - 1n) >> BigInt((height + 1) * arityLog2)) << BigInt((height + 1) * arityLog2);
  let generation = start(last, 0);
  for (let height = 1; generation > 0n; height++) {
    const next = start(generation, height);
    groups.unshift({ generation, height });
    generation = next;
  }
  return groups.filter(({ height }, i, all) => height <= greatestHeight(arityLog2) && all[i - 1]?.generation !== all[i]?.generation);
}

const generations = fc.oneof(fc.bigInt({ min: 1n, max: 400n }), fc.bigInt({ min: 1n, max: 2n ** 40n }));

export const manifests: fc.Arbitrary<Manifest> = fc.tuple(configs, someDataFiles, generations).chain(([config, files, last]) => {
  if (config.manifestKind === "numbered") return fc.constant({ config });
  const nodes = fullGroups(config.versionTreeArityLog2, last).map(({ generation, height }) => versionNode(files, generation, height));
  return fc.tuple(versionLists(files, config.versionTreeArityLog2, last), fc.tuple(...nodes), fc.nat()).map(([list, all, omitted]) => ({
    config,
    content: { files, versions: list, versionTreeNodes: all.filter((_, i) => ((omitted >> i) & 1) === 0) },
  }));
});

const leafVersionNodes: fc.Arbitrary<VersionTreeNode> = fc
  .tuple(fc.integer({ min: 1, max: 16 }), someDataFiles, generations)
  .chain(([versionTreeArityLog2, files, last]) =>
    versionLists(files, versionTreeArityLog2, last).map((list) => ({
      kind: "leaf" as const,
      versionTreeArityLog2,
      height: 0 as const,
      files,
      versions: list,
    })),
  );

const interiorVersionNodes: fc.Arbitrary<VersionTreeNode> = fc
  .tuple(fc.integer({ min: 1, max: 16 }), someDataFiles, fc.nat(), fc.bigInt({ min: 0n, max: 3n }))
  .chain(([versionTreeArityLog2, files, anyHeight, group]) => {
    const height = 1 + (anyHeight % greatestHeight(versionTreeArityLog2));
    const stride = 1n << BigInt(versionTreeArityLog2 * height);
    const fits = versionTreeArityLog2 * (height + 1) < 60;
    const first = (fits ? group : 0n) * 2n ** BigInt(versionTreeArityLog2) + 1n;
    const ends = fc.subarray([first, first + 1n], { minLength: 1 });
    return ends
      .chain((nths) => fc.tuple(...nths.map((nth) => versionNode(files, nth * stride, height - 1))))
      .map((children) => ({ kind: "interior" as const, versionTreeArityLog2, height, files, children }));
  });

export const versionTreeNodes: fc.Arbitrary<VersionTreeNode> = fc.oneof(leafVersionNodes, interiorVersionNodes);
