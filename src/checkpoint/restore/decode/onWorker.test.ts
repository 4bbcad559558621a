import { describe, expect, it } from "vitest";
import { CorruptCheckpointError } from "../../../errors.js";
import type { WorkerLease } from "../../../tasks/workerPool.js";
import type { FromWorker, ToWorker } from "./messages.js";
import { decodeOnWorker, splitOnWorker } from "./onWorker.js";
import { packError } from "./packError.js";
import type { Piece } from "./parts.js";
import { PieceMemory } from "./pieceMemory.js";

type Respond = (message: ToWorker, tell: (message: FromWorker) => void) => void;

/** A worker that answers as it is told to, a turn later. */
function fakeLease(respond: Respond) {
  const posted: ToWorker[] = [];
  let listener: (message: unknown) => void = () => {};
  let breakDown = (_error: unknown) => {};
  const released: boolean[] = [];
  const lease: WorkerLease = {
    post(message) {
      posted.push(message as ToWorker);
      setTimeout(() => respond(message as ToWorker, (answer) => listener(answer)));
    },
    onMessage: (given) => {
      listener = given;
    },
    broken: new Promise((_, reject) => {
      breakDown = reject;
    }),
    release: (finished) => released.push(finished),
  };
  return { lease, posted, released, breakDown: (error: unknown) => breakDown(error) };
}

const part = {
  offset: 0,
  length: 8,
  codec: "none",
  decodedLength: 8,
  elementOffset: 0,
  storedDtype: "uint8",
  byteOrder: "little",
  dtype: "uint8",
} as const;
const start = {
  kind: "decode",
  module: undefined,
  job: { path: "d/file", parts: [part], start: 0 },
  pieces: { byteLength: 4, count: 2 },
} as const;

const pieceOf = (buffer: ArrayBuffer): FromWorker => ({ kind: "piece", buffer, runs: [{ part: 0, offset: 0, start: 0, byteLength: 4 }] });

async function* pieces(...lengths: readonly number[]) {
  for (const length of lengths) yield new Uint8Array(length).fill(length);
}

const posts = { byteLength: 4, count: 3 };
const streamOf = (bytes: AsyncIterable<Uint8Array>) => ({ bytes, start: 0, memory: new PieceMemory(posts) });

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("decodeOnWorker", () => {
  it("hands pieces over, gives their memory back and ends when all are taken", async () => {
    const buffers = [new ArrayBuffer(4), new ArrayBuffer(4)];
    const { lease, posted, released } = fakeLease((message, tell) => {
      if (message.kind !== "decode") return;
      for (const buffer of buffers) tell(pieceOf(buffer));
      tell({ kind: "done" });
    });
    const taken: Piece[] = [];
    const onPiece = async (piece: Piece) => {
      await soon();
      taken.push(piece);
    };
    await decodeOnWorker(lease, { start, onPiece }, {});
    expect(taken.map(({ buffer }) => buffer)).toEqual(buffers);
    expect(posted.filter(({ kind }) => kind === "returned")).toEqual(buffers.map((buffer) => ({ kind: "returned", buffer })));
    expect(released).toEqual([true]);
  });

  it("gives a worker that reads files share after share, as long as there are some", async () => {
    const shares = [
      { path: "d/a", parts: [part, part] },
      { path: "d/b", parts: [part] },
    ];
    const { lease, posted, released } = fakeLease((message, tell) => {
      if (message.kind === "decode" || (message.kind === "share" && message.share !== undefined)) tell({ kind: "more" });
      else tell({ kind: "done" });
    });
    await decodeOnWorker(lease, { start, more: () => shares.shift(), onPiece: async () => {} }, {});
    expect(posted.flatMap((message) => (message.kind === "share" ? [message.share?.path] : []))).toEqual(["d/a", "d/b", undefined]);
    expect(released).toEqual([true]);
  });

  it("posts the bytes of a run in full messages, in memory that comes back", async () => {
    let inPost = 0;
    let most = 0;
    const memories = new Set<ArrayBuffer>();
    const { lease, posted, released } = fakeLease((message, tell) => {
      if (message.kind === "bytes") {
        memories.add(message.buffer);
        inPost -= 1;
        tell({ kind: "taken", buffer: message.buffer });
      }
      if (message.kind === "end") tell({ kind: "done" });
    });
    const counted: WorkerLease = {
      ...lease,
      post: (message, transfer) => {
        if ((message as ToWorker).kind === "bytes") inPost += 1;
        most = Math.max(most, inPost);
        lease.post(message, transfer);
      },
    };
    await decodeOnWorker(counted, { start, stream: streamOf(pieces(3, 40, 2)), onPiece: async () => {} }, {});
    const sent = posted.flatMap((message) => (message.kind === "bytes" ? [message.byteLength] : []));
    expect(sent).toEqual([...Array(11).fill(4), 1]);
    expect(most).toBe(posts.count);
    expect(memories.size).toBe(posts.count);
    expect(released).toEqual([true]);
  });

  it("ends the worker where the job, a piece or the stream fails, and says why", async () => {
    const damage = new CorruptCheckpointError({ path: "d/file", offset: 3, expected: "a zstd frame", received: "none" });
    const failing = fakeLease((message, tell) => message.kind === "decode" && tell({ kind: "failed", error: packError(damage) }));
    await expect(decodeOnWorker(failing.lease, { start, onPiece: async () => {} }, {})).rejects.toEqual(damage);
    expect(failing.released).toEqual([false]);

    const full = fakeLease((message, tell) => message.kind === "decode" && tell(pieceOf(new ArrayBuffer(4))));
    const onPiece = () => Promise.reject(new Error("full"));
    await expect(decodeOnWorker(full.lease, { start, onPiece }, {})).rejects.toThrow("full");
    expect(full.released).toEqual([false]);

    const silent = fakeLease(() => {});
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(2);
      throw new Error("the network");
    }
    await expect(decodeOnWorker(silent.lease, { start, stream: streamOf(broken()), onPiece: async () => {} }, {})).rejects.toThrow(
      "the network",
    );
    expect(silent.released).toEqual([false]);
  });

  it("does not wait for a worker that broke, nor after an abort, and gives the stream up", async () => {
    const dying = fakeLease(() => {});
    const waiting = decodeOnWorker(dying.lease, { start, onPiece: async () => {} }, {});
    dying.breakDown(new Error("it broke"));
    await expect(waiting).rejects.toThrow("it broke");

    const silent = fakeLease(() => {});
    const controller = new AbortController();
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new Uint8Array(4);
      } finally {
        closed = true;
      }
    }
    const aborted = decodeOnWorker(silent.lease, { start, stream: streamOf(endless()), onPiece: async () => {} }, controller);
    await soon();
    controller.abort("enough");
    await expect(aborted).rejects.toBe("enough");
    expect(silent.released).toEqual([false]);
    await expect.poll(() => closed).toBe(true);
  });
});

describe("splitOnWorker", () => {
  it("gives the parts, or none where the frame stays whole", async () => {
    const parts = [{ offset: 9, length: 100, windowLog: 19, decodedLength: 128 }];
    const question = {
      kind: "split",
      file: { handle: {} as FileSystemFileHandle, version: { byteLength: 1, lastModified: 2 } },
      path: "d/file",
      part,
    } as const;
    for (const answer of [parts, undefined]) {
      const { lease, released } = fakeLease((_, tell) => tell({ kind: "done", parts: answer }));
      expect(await splitOnWorker(lease, question, {})).toEqual(answer ?? []);
      expect(released).toEqual([true]);
    }
  });
});
