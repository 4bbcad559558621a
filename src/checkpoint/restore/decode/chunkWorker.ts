import { ZstdDecoder } from "../../../codecs/zstd/decoder.js";
import { type FileSource, openFileSource } from "../../../storage/fileSource.js";
import { cutFrame } from "./cutFrame.js";
import { decodeParts, type ReadableParts } from "./decodeParts.js";
import { FetchedBodies } from "./fetchedBodies.js";
import type { FileShare, FromWorker, PostedParts, ToWorker } from "./messages.js";
import { packError } from "./packError.js";
import type { StoredPart } from "./parts.js";
import { PieceMemory } from "./pieceMemory.js";
import { PieceWriter } from "./pieceWriter.js";
import { PostedBytes } from "./postedBytes.js";

// The entry of the workers: reads, decodes and casts chunks, one job at a time.

/** A decoder that has taken more memory is not kept: WebAssembly gives none back. */
const mostKeptMemory = 16 * 1024 * 1024;

const tell = (message: FromWorker, transfer: Transferable[] = []) => postMessage(message, { transfer });
const memory = new PieceMemory({ byteLength: 0, count: 0 });
let posted: PostedBytes | undefined;
const fetched = new FetchedBodies(tell, () => posted?.wake());
/** Takes the share that was asked for. */
let supply: (share: FileShare | undefined) => void = () => {};
let idleDecoder: ZstdDecoder | undefined;

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case "decode":
      return answer(() => decode(data));
    case "split":
      return answer(() => split(data));
    case "share":
      return supply(data.share);
    case "bytes":
      return posted?.add(data.buffer, data.byteLength, data.offset);
    case "fetch":
      return void fetched.fetch(data);
    case "read":
      return fetched.read(data.id);
    case "drop":
      return fetched.drop(data.id);
    case "end":
      return posted?.end();
    case "returned":
      return memory.giveBack(data.buffer);
    default:
      return data satisfies never;
  }
});
tell({ kind: "ready" });

async function answer(work: () => Promise<FromWorker>): Promise<void> {
  const message = await work().catch((error: unknown): FromWorker => ({ kind: "failed", error: packError(error) }));
  tell(message);
}

async function decode({ module, job, pieces }: ToWorker & { kind: "decode" }): Promise<FromWorker> {
  const decoder = idleDecoder ?? (module && new ZstdDecoder(module));
  idleDecoder = undefined;
  memory.resize(pieces);
  const writer = new PieceWriter({
    take: () => memory.take(),
    give: ({ buffer, runs }) => tell({ kind: "piece", buffer, runs }, [buffer]),
  });
  if ("start" in job) {
    await decodePosted(job, decoder, writer);
  } else {
    await decodeParts(openedShares(job), decoder, writer);
  }
  if (decoder !== undefined && decoder.memoryBytes <= mostKeptMemory) idleDecoder = decoder;
  return { kind: "done" };
}

async function decodePosted(job: PostedParts, decoder: ZstdDecoder | undefined, writer: PieceWriter): Promise<void> {
  const { run, start } = job;
  posted = new PostedBytes(
    start,
    (buffer) => tell({ kind: "taken", buffer }, [buffer]),
    (position) => fetched.at(run, position),
  );
  await decodeParts([{ ...job, bytes: posted }], decoder, writer);
  await fetched.drain(run);
  posted.close();
}

/** This share and those that follow, each of an open file, as long as there are more. */
async function* openedShares(first: FileShare): AsyncGenerator<ReadableParts> {
  let open: FileSource | undefined;
  try {
    let next: FileShare | undefined = first;
    while (next !== undefined) {
      const { file, path, parts }: FileShare = next;
      let following: Promise<FileShare | undefined> | undefined;
      if (file !== undefined) {
        open?.close();
        open = await openFileSource(file.handle, { path, version: file.version });
      }
      if (open === undefined) throw new TypeError("the first share of a job has a file");
      const askedAhead = beforeLast(parts, () => {
        following = nextShare();
      });
      yield { path, parts: askedAhead, bytes: open };
      next = await following;
    }
  } finally {
    open?.close();
  }
}

/** Calls as the last of some parts begins. */
function* beforeLast(parts: readonly StoredPart[], call: () => void): Generator<StoredPart> {
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1) call();
    yield part;
  }
}

function nextShare(): Promise<FileShare | undefined> {
  return new Promise((resolve) => {
    supply = resolve;
    tell({ kind: "more" });
  });
}

async function split({ file: { handle, version }, path, part }: ToWorker & { kind: "split" }): Promise<FromWorker> {
  const file = await openFileSource(handle, { path, version });
  try {
    return { kind: "done", parts: cutFrame(file, part) };
  } finally {
    file.close();
  }
}
