import { expect, test } from "vitest";
import { Scouts } from "./scouts.js";

async function entered(scouts: Scouts, path: string, signal?: AbortSignal) {
  return Promise.race([scouts.enter(path, { signal }), new Promise((resolve) => setTimeout(() => resolve("waits"), 5))]);
}

test("the first read goes alone; after a part all go", async () => {
  const scouts = new Scouts();
  const report = await scouts.enter("a", {});
  expect(await entered(scouts, "b")).toBe("waits");
  const other = scouts.enter("b", {});
  report?.(true);
  expect(await other).toBeUndefined();
  for (const path of ["a", "b", "b"]) expect(await entered(scouts, path)).toBeTypeOf("function");
});

test("where the server promises parts, all go at once, until it breaks its word", async () => {
  const scouts = new Scouts();
  scouts.hearPromise();
  const report = await scouts.enter("a", {});
  expect(await entered(scouts, "b")).toBeTypeOf("function");
  report?.(false);
  scouts.hearPromise();
  expect(await entered(scouts, "b")).toBeTypeOf("function");
  expect(await entered(scouts, "b")).toBe("waits");
});

test("after a whole file each file has its own scout, and files that gave parts have none", async () => {
  const scouts = new Scouts();
  (await scouts.enter("a", {}))?.(false);
  const b = await scouts.enter("b", {});
  expect(await entered(scouts, "b")).toBe("waits");
  expect(await entered(scouts, "c")).toBeTypeOf("function");
  b?.(true);
  expect(await entered(scouts, "b")).toBeTypeOf("function");
  expect(await entered(scouts, "b")).toBeTypeOf("function");
});

test("a scout that learns nothing leaves its place to another, and who waits may abort", async () => {
  const scouts = new Scouts();
  const report = await scouts.enter("a", {});
  await expect(scouts.enter("b", { signal: AbortSignal.timeout(5) })).rejects.toMatchObject({ name: "TimeoutError" });
  report?.();
  expect(await entered(scouts, "b")).toBeTypeOf("function");
  expect(await entered(scouts, "c")).toBe("waits");
});
