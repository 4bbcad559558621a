import { type ByteRange, defaultMergeRule, type MergedRange, type MergeRule, mergeRanges } from "../bytes/ranges.js";
import { isCheckpointError } from "../errors.js";
import { SharedTask } from "../tasks/shared.js";
import { keepsStreams, keptStreamOf } from "./keptStream.js";
import { requirePath, requireRange } from "./paths.js";
import type { ReadableStorage } from "./storage.js";

/** A range that waits for its neighbours. */
interface WaitingRead extends ByteRange {
  readonly signal: AbortSignal | undefined;
  readonly settle: (bytes: Promise<Uint8Array | undefined>) => void;
}

/**
 * The same storage, with neighbouring ranges of a file read as one where they are asked in one go: in one tick, also some promises
 * apart. Each caller gets bytes of its own and may abort alone; a merged read stops when all its callers have.
 */
export function withCoalescing(storage: ReadableStorage, rule: MergeRule = defaultMergeRule): ReadableStorage {
  const waiting = new Map<string, WaitingRead[]>();
  const { size, stream, handle, facts, snapshot } = storage;

  const send = (path: string) => {
    const reads = waiting.get(path) ?? [];
    waiting.delete(path);
    for (const run of mergeRanges(
      reads.filter(({ signal }) => !signal?.aborted),
      rule,
    )) {
      sendRun(storage, path, run);
    }
    for (const read of reads) if (read.signal?.aborted) read.settle(Promise.reject(read.signal.reason));
  };

  const enqueue = (path: string, range: ByteRange, signal: AbortSignal | undefined) =>
    new Promise<Uint8Array | undefined>((settle) => {
      const reads = waiting.get(path) ?? [];
      reads.push({ ...range, signal, settle });
      if (reads.length > 1) return;
      waiting.set(path, reads);
      void afterNeighbours(() => reads.length).then(() => send(path));
    });

  const coalescing: ReadableStorage = {
    ...(storage.name !== undefined && { name: storage.name }),
    async read(path, options = {}) {
      const { range, alone, signal } = options;
      requirePath(path);
      if (range !== undefined) requireRange(range);
      if (range === undefined || range.length === 0 || alone) return storage.read(path, options);
      signal?.throwIfAborted();
      return enqueue(path, range, signal);
    },
    list: (prefix, options) => storage.list(prefix, options),
    ...(size && { size: (path, options) => size.call(storage, path, options) }),
    ...(stream && { stream: (path, range, options) => stream.call(storage, path, range, options) }),
    ...(handle && { handle: (path, options) => handle.call(storage, path, options) }),
    ...(facts && { facts: (path, options) => facts.call(storage, path, options) }),
    ...(snapshot && { snapshot: () => withCoalescing(snapshot.call(storage), rule) }),
  };
  return keepsStreams(coalescing, keptStreamOf(storage));
}

// Reads that belong together come from like promise chains, a few steps apart; a timer would wait in a background tab.
const quietTurns = 16;

/** Waits until no further read came for some turns of the microtask queue. */
async function afterNeighbours(count: () => number): Promise<void> {
  for (let quiet = 0, seen = count(); quiet < quietTurns; quiet += 1) {
    await undefined;
    if (count() === seen) continue;
    seen = count();
    quiet = 0;
  }
}

function sendRun(storage: ReadableStorage, path: string, run: MergedRange<WaitingRead>): void {
  const [first] = run.members;
  if (first === undefined) return;
  if (run.members.length === 1) {
    first.settle(readAlone(storage, path, first));
    return;
  }
  const task = new SharedTask(async (signal) => storage.read(path, { range: rangeOf(run), signal }));
  for (const member of run.members) member.settle(partOf(storage, path, run, member, task));
}

async function partOf(
  storage: ReadableStorage,
  path: string,
  run: ByteRange,
  member: WaitingRead,
  task: SharedTask<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  try {
    const bytes = await task.join(member);
    const start = member.offset - run.offset;
    // A copy, so that one small part does not keep the whole run in memory, and no two callers share a buffer.
    return bytes && new Uint8Array(bytes.subarray(start, start + member.length));
  } catch (error) {
    // Only the member that reaches past the end of the file is wrong; which one that is, each finds out alone.
    if (!isCheckpointError(error, "Storage") || error.reason !== "length") throw error;
    return readAlone(storage, path, member);
  }
}

async function readAlone(storage: ReadableStorage, path: string, read: WaitingRead): Promise<Uint8Array | undefined> {
  return storage.read(path, { range: rangeOf(read), signal: read.signal });
}

const rangeOf = ({ offset, length }: ByteRange): ByteRange => ({ offset, length });
