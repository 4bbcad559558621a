import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeLocks } from "./locks.js";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "orbax-webgpu-locks-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const alone = { mode: "exclusive", wait: true } as const;
const atOnce = { mode: "exclusive", wait: false } as const;
const lockFile = () => join(dir, ".orbax-webgpu-writer.lock");

/** A process that does nothing until it is ended. */
async function sleeper(): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  await new Promise((resolve) => child.once("spawn", resolve));
  return child as ChildProcess & { readonly pid: number };
}

const leave = (owner: object) => writeFile(lockFile(), JSON.stringify(owner));

describe("nodeLocks", () => {
  it("holds a file that names its owner, and takes it away", async () => {
    const locks = nodeLocks(dir);
    const held = await locks.hold("writer", alone, async () => {
      expect(JSON.parse(await readFile(lockFile(), "utf8"))).toMatchObject({ pid: process.pid, host: hostname() });
      expect(await nodeLocks(`${dir}/.`).hold("writer", atOnce, async () => 1)).toBeUndefined();
      return readdir(dir);
    });
    expect(held?.value).toEqual([".orbax-webgpu-writer.lock"]);
    await expect(locks.hold("writer", alone, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    await locks.hold("writer", { mode: "shared", wait: true }, async () => expect(await readdir(dir)).toEqual([]));
    expect(await readdir(dir)).toEqual([]);
  });

  it("waits for another process until it ends, however it does", async () => {
    const child = await sleeper();
    await leave({ pid: child.pid, host: hostname() });
    const locks = nodeLocks(dir);
    expect(await locks.hold("writer", atOnce, async () => 1)).toBeUndefined();
    const controller = new AbortController();
    const aborted = locks.hold("writer", { ...alone, signal: controller.signal }, async () => 1);
    controller.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    const waiting = locks.hold("writer", alone, async () => "mine");
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await exited;
    expect(await waiting).toEqual({ value: "mine" });
    expect(await readdir(dir)).toEqual([]);
  });

  it("takes over what a process of the same number left before, and a file that names nobody", async () => {
    const locks = nodeLocks(dir);
    await leave({ pid: process.pid, host: hostname(), started: Date.now() - 1e9 });
    expect(await locks.hold("writer", atOnce, async () => 1)).toEqual({ value: 1 });
    await writeFile(lockFile(), "");
    expect(await locks.hold("writer", atOnce, async () => 2)).toEqual({ value: 2 });
  });

  it("does not wait for what is no folder, nor for a lock that it cannot read", async () => {
    const file = join(dir, "file");
    await writeFile(file, "");
    const message = expect.stringMatching(/could not be locked \((EEXIST|ENOTDIR)\); a file stands in its place/);
    await expect(nodeLocks(file).hold("writer", alone, async () => 1)).rejects.toMatchObject({ reason: "io", message });
    await mkdir(lockFile());
    await expect(nodeLocks(dir).hold("writer", alone, async () => 1)).rejects.toMatchObject({ reason: "io" });
  });

  it("leaves the lock of another machine alone", async () => {
    await leave({ pid: 1, host: `not ${hostname()}` });
    expect(await nodeLocks(dir).hold("writer", atOnce, async () => 1)).toBeUndefined();
  });
});
