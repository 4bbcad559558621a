import { expect, test } from "vitest";
import { CorruptCheckpointError } from "../../errors.js";
import { config } from "./config.js";
import { checkHex, checkRoundTrips, configs, hexBytes, readHex } from "./records.testing.js";

const uuid = "000102030405060708090a0b0c0d0e0f";

test("reads and writes Orbax's configuration", () => {
  const orbax = { manifestKind: "single", maxInlineValueBytes: 1024, maxDecodedNodeBytes: 100_000_000, versionTreeArityLog2: 4 } as const;
  checkHex(
    config,
    { uuid: hexBytes(uuid), ...orbax, compression: { method: "zstd", level: 0 } },
    `${uuid} 00 8008 80c2d72f 04 01 00000000`,
  );
  checkHex(config, { uuid: hexBytes(uuid), ...orbax, compression: { method: "none" } }, `${uuid} 00 8008 80c2d72f 04 00`);
});

test("random configurations come back", () => {
  checkRoundTrips(config, configs);
});

test.each([
  ["a manifest kind", `${uuid} 02 00 00 04 00`],
  ["an inline limit above 32 bits", `${uuid} 00 ffffffff10 00 04 00`],
  ["an arity of 0", `${uuid} 00 00 00 00 00`],
  ["an arity of 2^17", `${uuid} 00 00 00 11 00`],
  ["a compression", `${uuid} 00 00 00 04 02`],
  ["a zstd level above 22", `${uuid} 00 00 00 04 01 17000000`],
  ["a zstd level below the least", `${uuid} 00 00 00 04 01 fffffdff`],
  ["a short UUID", uuid.slice(2)],
])("refuses %s that TensorStore refuses", (_, hex) => {
  expect(() => readHex(config, hex)).toThrow(CorruptCheckpointError);
});
