import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

/** A fresh module, which remembers what it has asked for. */
async function withManager(storage: object | undefined) {
  vi.resetModules();
  vi.stubGlobal("navigator", storage === undefined ? undefined : { storage });
  return import("./room.js");
}

beforeEach(() => vi.resetModules());
afterEach(() => vi.unstubAllGlobals());

describe("requestPersistence", () => {
  test("asks once, and says what the browser said", async () => {
    const persist = vi.fn(async () => true);
    const { requestPersistence } = await withManager({ persist });
    expect(await Promise.all([requestPersistence(), requestPersistence()])).toEqual([true, true]);
    expect(persist).toHaveBeenCalledTimes(1);
  });

  test.each([[undefined], [{}], [{ persist: async () => false }], [{ persist: () => Promise.reject(new TypeError("no")) }]])(
    "is false where it is not granted: %o",
    async (storage) => {
      expect(await (await withManager(storage)).requestPersistence()).toBe(false);
    },
  );
});

describe("requireRoom", () => {
  const estimate = async () => ({ quota: 5000, usage: 3000 });

  test("passes where there is room, and where the browser does not tell", async () => {
    await (await withManager({ estimate })).requireRoom(2000);
    for (const storage of [undefined, {}, { estimate: async () => ({}) }, { estimate: () => Promise.reject(new TypeError("no")) }])
      await (await withManager(storage)).requireRoom(1e15);
  });

  test("says what is needed, what there is and what to do", async () => {
    const { requireRoom } = await withManager({ estimate });
    await expect(requireRoom(2001, "opfs:/runs")).rejects.toMatchObject({
      name: "StorageError",
      reason: "quota",
      path: "opfs:/runs",
      message: expect.stringMatching(/2,001 bytes more are needed.*2,000 bytes are free.*remove old checkpoints/),
    });
  });

  test("more than all is used is no room", async () => {
    const { requireRoom } = await withManager({ estimate: async () => ({ quota: 5000, usage: 6000 }) });
    await expect(requireRoom(1)).rejects.toThrow(/that 0 bytes are free/);
    await requireRoom(0);
  });
});
