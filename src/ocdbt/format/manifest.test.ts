import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { openRecord } from "./envelope.js";
import { isMissing } from "./indirectReference.js";
import { manifest } from "./manifest.js";
import { checkRoundTrips, hexBytes, hexOf, manifests, readHex } from "./records.testing.js";
import { vectors } from "./vectors.testing.js";

const open = (hex: string) => openRecord("manifest", manifest, hexBytes(hex), { path: "manifest.ocdbt", offset: 0 });

test("reads a manifest that Orbax wrote", async () => {
  const { config, content } = await open(vectors.orbaxManifest);
  expect(hexOf(config.uuid)).toBe("abb74fe931541edb5dbadf4f2aeb1dea");
  expect(config).toMatchObject({
    manifestKind: "single",
    maxInlineValueBytes: 1024,
    maxDecodedNodeBytes: 100_000_000,
    versionTreeArityLog2: 4,
    compression: { method: "zstd", level: 0 },
  });
  expect(content).toEqual({
    files: [{ basePath: "", relativePath: "d/c73ccf67375b3eac3bdb9d79349b2a47" }],
    versions: [
      {
        generation: 1n,
        rootHeight: 0,
        fileId: 0,
        offset: 0n,
        length: 240n,
        numKeys: 4n,
        numTreeBytes: 240n,
        numIndirectValueBytes: 0n,
        commitTime: 1778718341595510653n,
      },
    ],
    versionTreeNodes: [],
  });
});

test("reads the smallest manifests", async () => {
  const small = await open(vectors.handmadeManifest);
  expect(small.config.compression).toEqual({ method: "none" });
  expect(small.content?.versions).toMatchObject([{ generation: 1n, length: 192n, commitTime: 1_700_000_000_000_000_000n }]);
  const empty = await open(vectors.emptyManifest);
  expect(empty.content?.versions.map(isMissing)).toEqual([true]);
});

test("random manifests come back", () => {
  checkRoundTrips(manifest, manifests, 300);
});

test("a numbered manifest ends behind its configuration", () => {
  const config = "000102030405060708090a0b0c0d0e0f 01 8008 80c2d72f 04 00";
  expect(readHex(manifest, config)).toMatchObject({ config: { manifestKind: "numbered" } });
  expect(() => readHex(manifest, `${config} 00`)).toThrow(CorruptCheckpointError);
});
