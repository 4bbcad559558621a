import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** As the platform's, without the symbol. */
const withoutAsyncDispose = () => {
  const symbol = Object.setPrototypeOf(Symbol.bind(undefined), Symbol) as typeof Symbol;
  return Object.defineProperty(symbol, "asyncDispose", { value: undefined });
};

it("is the platform's symbol", async () => {
  const { asyncDispose } = await import("./asyncDispose.js");
  expect(asyncDispose).toBe(Symbol.asyncDispose);
});

it("is the one that bundlers take where the platform has none, and a store is disposed of by it", async () => {
  const key = Symbol.for("Symbol.asyncDispose");
  vi.resetModules();
  vi.stubGlobal("Symbol", withoutAsyncDispose());
  const { OrbaxCheckpointStore } = await import("../checkpoint/store.js");
  expect(Reflect.ownKeys(OrbaxCheckpointStore.prototype)).toContain(key);
  expect(OrbaxCheckpointStore.prototype).not.toHaveProperty("undefined");
});
