import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { StorageError } from "../../errors.js";
import type { DirectoryLocks, LockRequest } from "../locks/locks.js";
import { locksHere } from "../locks/webLocks.js";
import { partialName } from "./partialNames.js";
import { hasEnded, parseProcess, thisProcess } from "./processes.js";

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
    const owner = await ownerIn(file);
    if (owner === undefined) continue;
    if (isOver(owner)) await takeAway(file, owner);
    else if (wait) await new Promise((rested) => setTimeout(rested, restMs));
    else return false;
  }
}

/** What names nobody was left by a program that was stopped. */
function isOver(owner: string): boolean {
  const named = parseProcess(owner);
  return named === undefined || hasEnded(named);
}

/** The text of a lock; undefined where it was just taken away. */
async function ownerIn(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw notLocked(cause);
  }
}

/** False where the file is there already. It comes with its text, so that no lock is ever without an owner. */
async function create(dir: string, file: string): Promise<boolean> {
  const beside = join(dir, partialName());
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(beside, JSON.stringify({ ...thisProcess(), id: randomUUID() }));
    return await link(beside, file).then(() => true, unlessThere);
  } catch (cause) {
    throw notLocked(cause);
  } finally {
    await rm(beside, { force: true }).catch(() => undefined);
  }
}

function unlessThere(cause: unknown): false {
  if (codeOf(cause) === "EEXIST") return false;
  throw cause;
}

function notLocked(cause: unknown): StorageError {
  const code = codeOf(cause);
  const isFile = code === "EEXIST" || code === "ENOTDIR";
  const advice = isFile ? "a file stands in its place: give a folder" : "check permissions, free space and the disk";
  return new StorageError({ path: "", reason: "io", message: `the folder could not be locked (${code}); ${advice}`, cause });
}

/** Removes the lock of an owner that has ended; one that somebody took meanwhile is put back. */
async function takeAway(file: string, owner: string): Promise<void> {
  const away = join(dirname(file), partialName());
  try {
    await rename(file, away);
  } catch {
    return; // somebody else was faster
  }
  if ((await readFile(away, "utf8")) !== owner) await link(away, file).catch(() => undefined);
  await rm(away, { force: true });
}

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "unknown");
