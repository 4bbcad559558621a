import type { ByteRange } from "../bytes/ranges.js";
import { isCheckpointError } from "../errors.js";
import { listsAs, refusesArgument, refusesLength, rejection, rejectsWith, same, sameBytes } from "./conformanceChecks.testing.js";
import { type ConformanceCase, conformanceFiles, invalidPaths, large, names, top } from "./conformanceFiles.testing.js";
import type { ReadableStorage } from "./storage.js";
import { streamRange } from "./streamRange.js";

/** Where a storage may differ. */
export interface ConformanceTraits {
  /** Any text is a path: what no folder could hold is absent there, not refused. */
  readonly anyPath?: boolean;
  /** A new file that is being written stands there, empty. */
  readonly beginsEmpty?: boolean;
  /** Names that begin with a dot are not listed. */
  readonly hidesDotNames?: boolean;
}

/** What every storage must do that is read; none of these changes anything. */
export const readCases = ({
  anyPath = false,
  hidesDotNames = false,
}: ConformanceTraits = {}): readonly ConformanceCase<ReadableStorage>[] => [
  ...wholes,
  ...ranges,
  ...streams,
  anyPath ? absentPaths : refusedPaths,
  ...lists(hidesDotNames ? /^\./ : /^$/),
  ...aborts,
];

const wholes: readonly ConformanceCase<ReadableStorage>[] = [
  {
    name: "reads whole files, empty ones too",
    async run(storage) {
      for (const [path, bytes] of conformanceFiles) sameBytes(await storage.read(path), bytes, path);
    },
  },
  {
    name: "an absent file, an absent folder, a folder and a path below a file are undefined",
    async run(storage) {
      for (const path of ["nothing", "no/thing", "run", "run/10", "top.bin/below"]) {
        same(await storage.read(path), undefined, path);
        same(await storage.read(path, { range: { offset: 0, length: 1 } }), undefined, `a range of ${path}`);
      }
    },
  },
  {
    name: "tells how long files are, where it can",
    async run(storage) {
      for (const [path, bytes] of conformanceFiles)
        same((await storage.size?.(path)) ?? bytes.byteLength, bytes.byteLength, `the size of ${path}`);
      for (const path of ["nothing", "run/10"]) same(await storage.size?.(path), undefined, `the size of ${path}`);
    },
  },
  {
    name: "a whole file that is as long as it may be is read",
    async run(storage) {
      sameBytes(await storage.read("top.bin", { longest: 1000 }), top, "top.bin");
    },
  },
];

const ranges: readonly ConformanceCase<ReadableStorage>[] = [
  {
    name: "reads exact ranges",
    async run(storage) {
      for (const [offset, length] of [
        [0, 1],
        [0, 1000],
        [999, 1],
        [500, 250],
      ] as const) {
        const read = await storage.read("top.bin", { range: { offset, length } });
        sameBytes(read, top.subarray(offset, offset + length), `${offset}+${length}`);
      }
    },
  },
  {
    name: "a range of no bytes is empty",
    async run(storage) {
      for (const offset of [0, 500, 1000]) {
        sameBytes(await storage.read("top.bin", { range: { offset, length: 0 } }), new Uint8Array(), `${offset}+0`);
      }
      sameBytes(await collect(storage, "top.bin", { offset: 3, length: 0 }), new Uint8Array(), "a stream");
    },
  },
  {
    name: "a range past the end is a length error",
    async run(storage) {
      for (const range of [
        { offset: 0, length: 1001 },
        { offset: 999, length: 2 },
        { offset: 1000, length: 1 },
        { offset: 5000, length: 10 },
      ]) {
        const what = `${range.offset}+${range.length}`;
        const path = await refusesLength(storage.read("top.bin", { range }), what);
        same(path.endsWith("top.bin"), true, "whether the error names the file");
        await refusesLength(collect(storage, "top.bin", range), `a stream of ${what}`);
      }
    },
  },
  {
    name: "ranges that are no ranges are refused",
    async run(storage) {
      for (const range of [
        { offset: -1, length: 2 },
        { offset: 0, length: -1 },
        { offset: 0.5, length: 1 },
        { offset: Number.MAX_SAFE_INTEGER, length: 2 },
      ]) {
        await refusesArgument(storage.read("top.bin", { range }), JSON.stringify(range));
      }
    },
  },
  {
    name: "concurrent reads of one file and of many give each its own bytes",
    async run(storage) {
      const asked = Array.from({ length: 40 }, (_, index) => ({ offset: index * 70_001, length: 1 + index * 97 }));
      const [parts, wholes] = await Promise.all([
        Promise.all(asked.map((range) => storage.read("run/10/model/d/0a", { range }))),
        Promise.all([...conformanceFiles.keys()].map((path) => storage.read(path))),
      ]);
      for (const [index, { offset, length }] of asked.entries()) {
        sameBytes(parts[index], large.subarray(offset, offset + length), `${offset}+${length}`);
      }
      for (const [index, [path, bytes]] of [...conformanceFiles].entries()) sameBytes(wholes[index], bytes, path);
    },
  },
];

const streams: readonly ConformanceCase<ReadableStorage>[] = [
  {
    name: "streams a range in pieces that add up to it",
    async run(storage) {
      const range = { offset: 12_345, length: 2 * 1024 * 1024 + 7 };
      sameBytes(await collect(storage, "run/10/model/d/0a", range), large.subarray(12_345, 12_345 + range.length), "the pieces");
    },
  },
  {
    name: "a stream may be left early, and one of an absent file throws",
    async run(storage) {
      for await (const piece of streamRange(storage, "run/10/model/d/0a", { offset: 0, length: large.byteLength })) {
        same(piece.byteLength > 0, true, "whether the piece has bytes");
        break;
      }
      const error = await rejection(collect(storage, "nothing", { offset: 0, length: 1 }), "a stream of an absent file");
      if (!isCheckpointError(error)) throw error;
    },
  },
];

const refusedPaths: ConformanceCase<ReadableStorage> = {
  name: "paths that could leave a folder are refused",
  async run(storage) {
    for (const path of invalidPaths) await refusesArgument(storage.read(path), JSON.stringify(path));
    for (const prefix of ["run", "/", "../", "run//", "/run/"]) await refusesArgument(storage.list(prefix), `the prefix ${prefix}`);
  },
};

const absentPaths: ConformanceCase<ReadableStorage> = {
  name: "paths that could leave a folder are absent, where there is no folder",
  async run(storage) {
    for (const path of invalidPaths) same(await storage.read(path), undefined, JSON.stringify(path));
  },
};

const lists = (hidden: RegExp): readonly ConformanceCase<ReadableStorage>[] => [
  {
    name: "lists what stands directly below a prefix",
    async run(storage) {
      await listsAs(storage, "run/", { files: ["note"], directories: ["10", "2"] });
      await listsAs(storage, "", { files: ["empty", "top.bin"], directories: ["odd", "run", "runner"] });
      const shown = names.filter((name) => !hidden.test(name));
      await listsAs(storage, "odd/", { files: [], directories: shown });
      for (const name of shown) await listsAs(storage, `odd/${name}/`, { files: [name], directories: [] });
    },
  },
  {
    name: "lists nothing where nothing is",
    async run(storage) {
      for (const prefix of ["nothing/", "no/thing/", "runn/"]) await listsAs(storage, prefix, { files: [], directories: [] });
    },
  },
];

const enough = new Error("enough");
const whole = { offset: 0, length: large.byteLength };

const aborts: readonly ConformanceCase<ReadableStorage>[] = [
  {
    name: "rejects with the signal's reason when aborted before",
    async run(storage) {
      const signal = AbortSignal.abort(enough);
      const range = { offset: 0, length: 2 };
      await rejectsWith(storage.read("top.bin", { signal }), enough, "a file");
      await rejectsWith(storage.read("top.bin", { signal, range }), enough, "a range");
      await rejectsWith(storage.list("", { signal }), enough, "a list");
      await rejectsWith(collect(storage, "top.bin", range, signal), enough, "a stream");
    },
  },
  {
    name: "a read that is aborted on its way rejects with the reason, or was already done",
    async run(storage) {
      const controller = new AbortController();
      const reads = [undefined, whole].map((range) => storage.read("run/10/model/d/0a", { range, signal: controller.signal }));
      const settled = Promise.allSettled(reads);
      await Promise.resolve();
      controller.abort(enough);
      for (const result of await settled) {
        if (result.status === "rejected") same(result.reason === enough, true, "whether the reason is the signal's");
        else same(result.value?.byteLength, large.byteLength, "the length");
      }
    },
  },
  {
    name: "a stream stops when aborted between two pieces",
    async run(storage) {
      const controller = new AbortController();
      const read = async () => {
        for await (const _ of streamRange(storage, "run/10/model/d/0a", whole, { signal: controller.signal })) controller.abort(enough);
      };
      await rejectsWith(read(), enough, "the stream");
    },
  },
];

async function collect(storage: ReadableStorage, path: string, range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(range.length);
  let length = 0;
  for await (const piece of streamRange(storage, path, range, { signal })) {
    bytes.set(piece, length);
    length += piece.byteLength;
  }
  same(length, range.length, "the stream's length");
  return bytes;
}
