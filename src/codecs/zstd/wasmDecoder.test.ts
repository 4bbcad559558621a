import { expect, test } from "vitest";
import { ZstdDamage } from "./damage.js";
import { hex } from "./frames.testing.js";
import { loadZstd } from "./loadZstd.js";
import { WasmDecoder } from "./wasmDecoder.js";

/** A module with the same exports whose `decode` is the instruction `unreachable`. */
const trapping = () => {
  const exported = (name: string, kind: number, index: number) =>
    `${name.length.toString(16).padStart(2, "0")}${Buffer.from(name).toString("hex")}0${kind}0${index}`;
  const section = (id: string, content: string) => `${id}${hex(content).length.toString(16).padStart(2, "0")}${content}`;
  const types = section("01", "02 6000017f 60047f7f7f7f017f");
  const functions = section("03", "02 00 01");
  const memory = section("05", "01 00 01");
  const exports = section("07", `03 ${exported("memory", 2, 0)}${exported("heap", 0, 0)}${exported("decode", 0, 1)}`);
  const code = section("0a", "02 04004108 0b 0300000b");
  return new WebAssembly.Module(hex(`0061736d01000000 ${types} ${functions} ${memory} ${exports} ${code}`));
};

test("a trap is damage, and the next frame gets a new instance", () => {
  const decoder = new WasmDecoder(trapping());
  const before = decoder.buffer;
  expect(() => decoder.decode(0, 0, 0, 0)).toThrow(ZstdDamage);
  expect(decoder.buffer).not.toBe(before);
});

test("its memory grows where it has to", async () => {
  const module = await loadZstd();
  if (module === undefined) throw new Error("no WebAssembly");
  const decoder = new WasmDecoder(module);
  const { byteLength } = decoder.buffer;
  decoder.reach(byteLength);
  expect(decoder.buffer.byteLength).toBe(byteLength);
  decoder.reach(byteLength + 1);
  expect(decoder.buffer.byteLength).toBe(byteLength + 65_536);
  expect(() => decoder.reach(2 ** 33)).toThrow(expect.objectContaining({ name: "StorageError", reason: "memory" }));
});
