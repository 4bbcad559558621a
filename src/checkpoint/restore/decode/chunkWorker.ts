import { ZstdDecoder } from "../../../codecs/zstd/decoder.js";
import { openFileSource } from "../../../storage/fileSource.js";
import { cutFrame } from "./cutFrame.js";
import { decodeParts } from "./decodeParts.js";
import type { FromWorker, PinnedFile, ToWorker } from "./messages.js";
import { packError } from "./packError.js";
import type { PieceSizes, StoredPart, StoredParts } from "./parts.js";
import { PieceMemory } from "./pieceMemory.js";
import { PieceWriter } from "./pieceWriter.js";
import { PostedBytes } from "./postedBytes.js";
import type { StoredBytes } from "./storedBytes.js";

// The entry of the workers: reads, decodes and casts chunks, one job at a time.

/** A decoder that has taken more memory is not kept: WebAssembly gives none back. */
const mostKeptMemory = 16 * 1024 * 1024;

const tell = (message: FromWorker, transfer: Transferable[] = []) => postMessage(message, { transfer });
const memory = new PieceMemory({ byteLength: 0, count: 0 });
let posted: PostedBytes | undefined;
/** Takes the parts that were asked for. */
let supply: (parts: readonly StoredPart[]) => void = () => {};
let idleDecoder: ZstdDecoder | undefined;

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case "decode":
      return answer(() => decode(data));
    case "split":
      return answer(() => split(data));
    case "parts":
      return supply(data.parts);
    case "bytes":
      return posted?.add(data.buffer, data.byteLength);
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

async function decode({ module, job, bytes, pieces }: ToWorker & { kind: "decode" }): Promise<FromWorker> {
  const decoder = idleDecoder ?? (module && new ZstdDecoder(module));
  idleDecoder = undefined;
  if ("file" in bytes) await decodeFile(job, bytes.file, decoder, pieces);
  else {
    posted = new PostedBytes(bytes.start, (buffer) => tell({ kind: "taken", buffer }, [buffer]));
    await decodeFrom(job, posted, decoder, pieces);
    posted.close();
  }
  if (decoder !== undefined && decoder.memoryBytes <= mostKeptMemory) idleDecoder = decoder;
  return { kind: "done" };
}

async function decodeFile(
  job: StoredParts,
  { handle, version }: PinnedFile,
  decoder: ZstdDecoder | undefined,
  pieces: PieceSizes,
): Promise<void> {
  const file = await openFileSource(handle, { path: job.path, version });
  try {
    await decodeFrom({ path: job.path, parts: allParts(job.parts) }, file, decoder, pieces);
  } finally {
    file.close();
  }
}

/** These parts and those that follow, as long as there are more. */
async function* allParts(first: readonly StoredPart[]): AsyncGenerator<StoredPart> {
  for (let parts = first; parts.length > 0; parts = await moreParts()) yield* parts;
}

function moreParts(): Promise<readonly StoredPart[]> {
  return new Promise((resolve) => {
    supply = resolve;
    tell({ kind: "more" });
  });
}

function decodeFrom(
  job: Parameters<typeof decodeParts>[0],
  bytes: StoredBytes,
  decoder: ZstdDecoder | undefined,
  pieces: PieceSizes,
): Promise<void> {
  memory.resize(pieces);
  const writer = new PieceWriter({
    take: () => memory.take(),
    give: ({ buffer, runs }) => tell({ kind: "piece", buffer, runs }, [buffer]),
  });
  return decodeParts(job, bytes, decoder, writer);
}

async function split({ file: { handle, version }, path, part }: ToWorker & { kind: "split" }): Promise<FromWorker> {
  const file = await openFileSource(handle, { path, version });
  try {
    return { kind: "done", parts: cutFrame(file, part) };
  } finally {
    file.close();
  }
}
