import { join } from "node:path";
import type { Page } from "playwright/test";
import type { Refusal, Spoilt } from "./page/refusal.js";
import { expect, test } from "./page/test.js";
import { type RunningServer, startServer } from "./server/server.mjs";

// What is refused is refused before a byte of a chunk outside the index is asked for, and before a buffer exists.

let server: RunningServer;

test.beforeAll(async () => {
  server = await startServer({ root: join(import.meta.dirname, "fixtures", "data") });
});
test.afterAll(() => server.close());

const store = (fixture: string) => `${server.url}/${fixture}/checkpoints`;

/** Requests since the last reset that asked for a byte of a chunk outside the index. */
async function requestsOfChunks(page: Page, url: string, step: number): Promise<object[]> {
  const chunks = await page.evaluate(({ url, step }) => window.internals.chunkRanges(url, step), { url, step });
  expect(chunks.length).toBeGreaterThan(0);
  // Those that the test itself makes have a query.
  const asked = server.requests.filter(({ target }) => !target.includes("?"));
  expect(asked.length).toBeGreaterThan(3);
  return asked
    .map(({ path, range = "", bytes }) => ({ path, start: Number(/\d+/.exec(range)?.[0] ?? 0), bytes }))
    .filter(({ path, start, bytes }) =>
      chunks.some((chunk) => path.endsWith(`/${chunk.path}`) && start < chunk.offset + chunk.length && chunk.offset < start + bytes),
    );
}

/** Restores and is refused; fails where a buffer was made, or the server was asked for a byte of a chunk. */
async function refuse(page: Page, fixture: string, step: number, spoilt: Spoilt): Promise<Refusal> {
  const url = store(fixture);
  server.resetRequests();
  const refusal = await page.evaluate(({ url, step, spoilt }) => window.internals.refusal(url, step, spoilt), { url, step, spoilt });
  expect(await requestsOfChunks(page, url, step)).toEqual([]);
  expect(refusal.made).toBe(0);
  return refusal;
}

test("a restore that is not refused asks for chunks, and this test sees it", async ({ page }) => {
  server.resetRequests();
  await page.evaluate((url) => new window.orbax.OrbaxCheckpointStore(url).restore(1200).then(() => undefined), store("digits"));
  expect((await requestsOfChunks(page, store("digits"), 1200)).length).toBeGreaterThan(2);
});

for (const fixture of ["digits", "thousand", "sharded"]) {
  const step = fixture === "digits" ? 1200 : 1;

  test(`${fixture}: every dtype that differs is listed, in one error`, async ({ page }) => {
    const { name, mismatches, arrays, x64Disabled } = await refuse(page, fixture, step, "every dtype");
    expect({ name, x64Disabled }).toEqual({ name: "CheckpointDtypeMismatchError", x64Disabled: false });
    expect(mismatches).toHaveLength(arrays);
    const one = await refuse(page, fixture, step, "one dtype");
    expect(one.mismatches).toHaveLength(1);
  });

  test(`${fixture}: trees and shapes that differ are listed`, async ({ page }) => {
    for (const [spoilt, problem] of [
      ["a shape", "shape"],
      ["a leaf too many", "missing"],
      ["a leaf too few", "unexpected"],
    ] as const) {
      const { name, mismatches } = await refuse(page, fixture, step, spoilt);
      expect(name).toBe("CheckpointTreeMismatchError");
      expect(mismatches).toEqual([expect.objectContaining({ problem })]);
    }
  });
}

test("64-bit arrays bound for a device are refused with both ways out, with and without templates", async ({ page }) => {
  for (const spoilt of ["64 bits", "64 bits in templates"] as const) {
    const { name, mismatches, x64Disabled, message } = await refuse(page, "x64", 1, spoilt);
    expect({ name, x64Disabled }).toEqual({ name: "CheckpointDtypeMismatchError", x64Disabled: true });
    const dtypes = new Set(mismatches.map(({ saved, restored }) => `${saved} to ${restored}`));
    expect(dtypes).toEqual(new Set(["float64 to float32", "int64 to int32", "uint64 to uint32", "complex128 to complex64"]));
    expect(message).toMatch(/castDtypes/);
    expect(message).toMatch(/enableX64/);
  }
});
