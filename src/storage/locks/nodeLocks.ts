import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { StorageError } from "../../errors.js";
import type { DirectoryLocks, LockRequest } from "./locks.js";
import { locksHere } from "./webLocks.js";

/** How long somebody who waits for another process rests between two looks, in milliseconds. */
const restMs = 50;

/**
 * Locks of a folder (Node): among those in this process; who takes one exclusively is also alone among those of all processes that do, by a file
 * in the folder that names its owner. What an owner left that has ended is taken over. Other processes do not hear of shared locks.
 */
export function nodeLocks(dir: string): DirectoryLocks {
  return {
    async hold(name, request, work) {
      const held = await locksHere(resolve(dir)).hold(name, request, async () => {
        if (request.mode === "shared") return { value: await work() };
        const file = join(dir, `.orbax-webgpu-${name}.lock`);
        return (await take(dir, file, request)) ? { value: await released(file, work) } : undefined;
      });
      return held?.value;
    },
  };
}

async function released<Value>(file: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

/** False where another process has it and the request does not wait. */
async function take(dir: string, file: string, { wait, signal }: LockRequest): Promise<boolean> {
  for (;;) {
    signal?.throwIfAborted();
    if (await create(dir, file)) return true;
    const owner = await readFile(file, "utf8").catch(() => undefined);
    if (owner === undefined) continue;
    if (hasEnded(owner)) await takeAway(file, owner);
    else if (wait) await new Promise((rested) => setTimeout(rested, restMs));
    else return false;
  }
}

/** False where the file is there already. It comes with its text, so that no lock is ever without an owner. */
async function create(dir: string, file: string): Promise<boolean> {
  const beside = `${file}.${randomUUID()}`;
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(beside, JSON.stringify({ ...self(), id: randomUUID() }));
    await link(beside, file);
    return true;
  } catch (cause) {
    const code = codeOf(cause);
    if (code === "EEXIST") return false;
    const message = `the folder could not be locked (${code}); check permissions, free space and the disk`;
    throw new StorageError({ path: "", reason: "io", message, cause });
  } finally {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

/** This process. Its start tells it from one of the same number before, as after a restart of a container. */
const self = () => ({ pid: process.pid, host: hostname(), started: Math.round(Date.now() - process.uptime() * 1000) });

/** Starts of one process as it tells them at two times differ less, in milliseconds. */
const clockError = 5000;

function hasEnded(owner: string): boolean {
  const me = self();
  const { pid, host, started } = ownerOf(owner);
  if (pid === undefined) return true;
  if (host !== me.host) return false; // nobody here can tell
  if (pid === me.pid) return Math.abs(Number(started) - me.started) > clockError;
  try {
    process.kill(pid, 0);
    return false;
  } catch (cause) {
    return codeOf(cause) === "ESRCH";
  }
}

function ownerOf(text: string): { readonly pid?: number; readonly host?: unknown; readonly started?: unknown } {
  try {
    const owner = JSON.parse(text);
    return typeof owner === "object" && owner !== null && Number.isSafeInteger(owner.pid) && owner.pid > 0 ? owner : {};
  } catch {
    return {};
  }
}

/** Removes the lock of an owner that has ended; one that somebody took meanwhile is put back. */
async function takeAway(file: string, owner: string): Promise<void> {
  const away = `${file}.${randomUUID()}`;
  try {
    await rename(file, away);
  } catch {
    return; // somebody else was faster
  }
  if ((await readFile(away, "utf8")) !== owner) await link(away, file).catch(() => undefined);
  await rm(away, { force: true });
}

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "unknown");
