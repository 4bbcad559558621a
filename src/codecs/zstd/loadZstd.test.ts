import { afterEach, expect, test, vi } from "vitest";
import recorded from "./wasm/recorded.json" with { type: "json" };

const freshLoadZstd = async () => {
  vi.resetModules();
  return (await import("./loadZstd.js")).loadZstd;
};

afterEach(() => {
  vi.doUnmock("./zstdWasm.js");
  vi.restoreAllMocks();
});

test("compiles once", async () => {
  const compile = vi.spyOn(WebAssembly, "compile");
  const loadZstd = await freshLoadZstd();
  const modules = await Promise.all([loadZstd(), loadZstd()]);
  expect(modules[0]).toBeInstanceOf(WebAssembly.Module);
  expect(await loadZstd()).toBe(modules[1]);
  // Node compiles something of its own for `Response`.
  expect(compile.mock.calls.filter(([bytes]) => bytes.byteLength === recorded.wasm.byteLength)).toHaveLength(1);
});

test("is undefined where a page forbids WebAssembly", async () => {
  vi.spyOn(WebAssembly, "compile").mockRejectedValue(new WebAssembly.CompileError("refused by the Content Security Policy"));
  const loadZstd = await freshLoadZstd();
  expect(await loadZstd()).toBeUndefined();
});

test("is tried again where its file did not arrive", async () => {
  const loadZstd = await freshLoadZstd();
  vi.doMock("./zstdWasm.js", () => {
    throw new Error("the network is gone");
  });
  await expect(loadZstd()).rejects.toThrow();
  vi.doUnmock("./zstdWasm.js");
  expect(await loadZstd()).toBeInstanceOf(WebAssembly.Module);
});
