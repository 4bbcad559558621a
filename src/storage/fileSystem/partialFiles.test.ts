import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { threadLocks } from "../locks/threadLocks.js";
import { FakeFileSystem } from "./fakeFileSystem.testing.js";
import { PartialNames, removeAbandoned } from "./partialFiles.js";

/** The browser's locks; `held` by name, whoever asks. */
function stubLocks() {
  const locks = threadLocks();
  const request = vi.fn(async (name: string, ...rest: unknown[]) => {
    const [options, run] = (rest.length > 1 ? rest : [{}, rest[0]]) as [LockOptions, (lock: object | null) => Promise<unknown>];
    const held = await locks.hold(name, { mode: "exclusive", wait: options.ifAvailable !== true }, () => run({}));
    return held === undefined ? run(null) : held.value;
  });
  vi.stubGlobal("navigator", { locks: { request } });
  return request;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const folderWith = (...names: string[]) => new FakeFileSystem(names.map((name) => [name, Uint8Array.of(1)] as const));

test("files of threads that have ended are removed, and nothing else", async () => {
  const request = stubLocks();
  const living = new PartialNames();
  const { name, release } = await living.take();
  const second = await living.take();
  expect(new Set([name, second.name]).size).toBe(2);
  expect(request).toHaveBeenCalledTimes(1);
  const dead = [1, 2].map((number) => `.${crypto.randomUUID()}.${number}.partial`);
  const others = ["a.partial", ".mine.1.partial", ".b"];
  const system = folderWith(name, ...dead, ...others, `folder/.${crypto.randomUUID()}.1.partial`);
  const left = [...system.files.keys()].filter((path) => !dead.includes(path)).sort();
  await removeAbandoned(system.directory());
  expect([...system.files.keys()].sort()).toEqual(left);

  // The lock stays a while after the last file has its place, and is taken anew for the next one.
  for (const done of [release, release, second.release]) done();
  await removeAbandoned(system.directory());
  expect(system.files.has(name)).toBe(true);
  await vi.advanceTimersByTimeAsync(1000);
  await removeAbandoned(system.directory());
  expect(system.files.has(name)).toBe(false);
  const again = await living.take();
  system.files.set(again.name, { bytes: Uint8Array.of(1), lastModified: 0 });
  await removeAbandoned(system.directory());
  expect(system.files.has(again.name)).toBe(true);
});

test("a file that goes meanwhile is no failure, and a failure is one", async () => {
  stubLocks();
  const name = `.${crypto.randomUUID()}.1.partial`;
  const system = folderWith(name);
  system.refusals.set(`removeEntry ${name}`, "NotFoundError");
  await removeAbandoned(system.directory());
  system.refusals.set(`removeEntry ${name}`, "InvalidStateError");
  await expect(removeAbandoned(system.directory())).rejects.toMatchObject({ name: "InvalidStateError" });
});

test("where there are no locks nobody can tell who has ended", async () => {
  vi.stubGlobal("navigator", {});
  const { name, release } = await new PartialNames().take();
  const system = folderWith(name);
  release();
  await vi.advanceTimersByTimeAsync(2000);
  await removeAbandoned(system.directory());
  expect(system.files.has(name)).toBe(true);
});

test("a lock that is refused gives no name, and is asked for again", async () => {
  const request = stubLocks();
  request.mockRejectedValueOnce(new Error("refused"));
  const names = new PartialNames();
  await expect(names.take()).rejects.toThrow("refused");
  expect((await names.take()).name).toMatch(/\.1\.partial$/);
});
