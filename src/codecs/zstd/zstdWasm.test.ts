import { createHash } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import recorded from "./wasm/recorded.json" with { type: "json" };
import { zstdWasm } from "./zstdWasm.js";

test("is the recorded build, and imports nothing", async () => {
  const wasm = inflateRawSync(Buffer.from(zstdWasm, "base64"));
  expect(wasm.length).toBe(recorded.wasm.byteLength);
  expect(createHash("sha256").update(wasm).digest("hex")).toBe(recorded.wasm.sha256);
  expect(WebAssembly.Module.imports(await WebAssembly.compile(wasm))).toEqual([]);
});
