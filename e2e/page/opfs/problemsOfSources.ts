import { refusesLength, rejection, same, sameBytes } from "../../../src/storage/conformanceChecks.testing.js";
import { conformanceFiles } from "../../../src/storage/conformanceFiles.testing.js";
import { type FileSource, openFileSource } from "../../../src/storage/fileSource.js";
import { putFile } from "./files.js";

const path = "run/10/model/d/0a";
const bytes = conformanceFiles.get(path) ?? new Uint8Array();

/** Checks something of files that are read at first hand. */
type Check = (handle: FileSystemFileHandle, folder: string) => Promise<void>;

/** All bytes of a range, read into parts of a larger memory. */
async function readAll(source: FileSource, offset: number, length: number, step: number): Promise<Uint8Array> {
  const from = source.at({ offset, length });
  const memory = new Uint8Array(length + 10).fill(170);
  let filled = 0;
  for (;;) {
    const count = await from.read(memory.subarray(filled, Math.min(filled + step, memory.byteLength)));
    if (count === 0) break;
    filled += count;
  }
  same(filled, length, "bytes that came");
  same(
    memory.subarray(length).every((byte) => byte === 170),
    true,
    "whether nothing was written behind them",
  );
  return memory.subarray(0, length);
}

async function whileOpen(source: FileSource, use: (source: FileSource) => Promise<void>): Promise<void> {
  try {
    await use(source);
  } finally {
    source.close();
  }
}

const checks: Readonly<Record<string, Check>> = {
  "reads ranges in order, and at most those": async (handle) =>
    whileOpen(await openFileSource(handle), async (source) => {
      same(source.byteLength, bytes.byteLength, "the length");
      sameBytes(await readAll(source, 0, bytes.byteLength, 1_000_000), bytes, "the whole file");
      sameBytes(await readAll(source, 12_345, 100_000, 999), bytes.subarray(12_345, 112_345), "a range");
      sameBytes(await readAll(source, bytes.byteLength, 0, 5), new Uint8Array(), "no bytes");
    }),

  "two read one file at a time": async (handle) =>
    whileOpen(await openFileSource(handle), async (first) =>
      whileOpen(await openFileSource(handle), async (second) => {
        const [one, other] = await Promise.all([readAll(first, 5, 50_000, 777), readAll(second, 70, 50_000, 888)]);
        sameBytes(one, bytes.subarray(5, 50_005), "the first one's");
        sameBytes(other, bytes.subarray(70, 50_070), "the second one's");
      }),
    ),

  "a range past the end is a length error": async (handle) =>
    whileOpen(await openFileSource(handle, { path }), async (source) => {
      const at = async () => source.at({ offset: 1, length: bytes.byteLength });
      same(await refusesLength(at(), "the range"), path, "what the error names");
    }),

  "closed, the file can be written to": async (_, folder) => {
    const handle = await putFile(`${folder}/written`, Uint8Array.of(1, 2, 3));
    const source = await openFileSource(handle);
    source.close();
    source.close();
    await putFile(`${folder}/written`, Uint8Array.of(4));
    await whileOpen(await openFileSource(handle), async (again) =>
      sameBytes(await readAll(again, 0, 1, 1), Uint8Array.of(4), "what was written"),
    );
  },

  "another version is refused, and lets go of the file": async (_, folder) => {
    const handle = await putFile(`${folder}/versions`, Uint8Array.of(1, 2, 3));
    const { size, lastModified } = await handle.getFile();
    for (const version of [
      { byteLength: size + 1, lastModified },
      { byteLength: size, lastModified: lastModified - 1000 },
    ]) {
      const error = await rejection(openFileSource(handle, { version }), "another version");
      same((error as { reason?: string }).reason, "changed", "why it was refused");
    }
    (await openFileSource(handle, { version: { byteLength: size, lastModified } })).close();
    await putFile(`${folder}/versions`, Uint8Array.of(4));
  },

  "while a writer has the file open, the old bytes are read": async (_, folder) => {
    const handle = await putFile(`${folder}/held`, Uint8Array.of(1, 2, 3));
    const writable = await handle.createWritable();
    await writable.write(Uint8Array.of(9));
    try {
      await whileOpen(await openFileSource(handle), async (source) =>
        sameBytes(await readAll(source, 0, 3, 2), Uint8Array.of(1, 2, 3), "the old bytes"),
      );
    } finally {
      await writable.close();
    }
  },
};

/**
 * What fails of reading files at first hand, a line each; `sync`: whether bytes came without a promise.
 * @param handle that of the large file of the conformance cases.
 */
export async function problemsOfSources(
  folder: string,
  handle: FileSystemFileHandle,
): Promise<{ readonly sync: boolean; readonly problems: string[] }> {
  const problems: string[] = [];
  for (const [name, check] of Object.entries(checks)) {
    await check(handle, folder).catch((error: unknown) => problems.push(`${name}: ${error}`));
  }
  let sync = false;
  await whileOpen(await openFileSource(handle), async (source) => {
    const count = source.at({ offset: 0, length: 1 }).read(new Uint8Array(1));
    sync = typeof count === "number";
    await count;
  });
  return { sync, problems };
}
