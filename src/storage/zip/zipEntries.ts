import { type CorruptCheckpointError, UnsupportedCheckpointError } from "../../errors.js";
import { zipError } from "./zipErrors.js";

/** An entry of a ZIP's central directory, as far as it is checked. */
export interface ZipEntryFacts {
  readonly filename: string;
  readonly directory: boolean;
  readonly encrypted: boolean;
  /** Unix file type and permissions; 0 where the writer noted none. */
  readonly unixMode?: number | undefined;
  /** 0 is stored, 8 is deflate. */
  readonly compressionMethod: number;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  /** Of its local header, from the ZIP's first byte. */
  readonly offset: number;
}

/** What is asked of a ZIP as a whole. */
export interface ZipLimits {
  readonly byteLength: number;
  /** Most bytes that all entries together may unpack to. */
  readonly mostBytes: number;
}

const localHeaderLength = 30;
const fileTypeMask = 0o170000;
const regularFile = 0o100000;
const folderType = 0o040000;

/**
 * Checks all entries before the first is unpacked: paths that leave the folder, paths that are there twice or differ by case or Unicode form
 * only, files where folders are, links, encryption, methods other than stored and deflate, bytes that two entries share, and sizes.
 * @returns files by path; folders follow from them.
 * @throws CorruptCheckpointError naming the entry, UnsupportedCheckpointError for encrypted entries and other methods.
 */
export function checkedEntries<Entry extends ZipEntryFacts>(entries: readonly Entry[], limits: ZipLimits): Map<string, Entry> {
  for (const entry of entries) checkEntry(entry);
  checkNames(entries);
  checkPlaces(entries, limits.byteLength);
  checkTotal(entries, limits);
  return new Map(entries.filter(({ directory }) => !directory).map((entry) => [entry.filename, entry]));
}

const refused = (path: string, expected: string, received: string): CorruptCheckpointError =>
  zipError("harmful", { path, expected, received });

function checkEntry({ filename, directory, encrypted, unixMode = 0, compressionMethod }: ZipEntryFacts): void {
  const parts = pathOf({ filename, directory }).split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || /[\\\0]|\p{Cs}/u.test(part)) || /^[a-z]:/i.test(filename))
    throw refused(filename, 'an entry with a path inside the ZIP, its parts joined with "/"', JSON.stringify(filename));
  const type = unixMode & fileTypeMask;
  if (type !== 0 && type !== regularFile && type !== folderType) throw refused(filename, "a file or a folder", "a link or a device");
  if (encrypted) throw new UnsupportedCheckpointError(`${filename}: the ZIP is encrypted; unpack it, and make one without a password`);
  if (compressionMethod !== 0 && compressionMethod !== 8)
    throw new UnsupportedCheckpointError(
      `${filename}: compressed by method ${compressionMethod}; only stored and deflated entries are read: unpack it, and make a new one`,
    );
}

/** A folder's name ends with a slash. */
const pathOf = ({ filename, directory }: Pick<ZipEntryFacts, "filename" | "directory">): string =>
  directory ? filename.replace(/\/$/, "") : filename;

/** Two names that one file system takes for the same would overwrite each other. */
function checkNames(entries: readonly ZipEntryFacts[]): void {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const { filename, directory } of entries) {
    const path = pathOf({ filename, directory });
    const kind = directory ? folders : files;
    const known = kind.get(sameName(path));
    if (known !== undefined) throw refused(filename, "a path that is there once, in whatever case", `${JSON.stringify(known)} as well`);
    kind.set(sameName(path), path);
  }
  for (const path of files.values()) {
    for (const folder of foldersOf(path)) {
      if (files.has(sameName(folder))) throw refused(path, "a folder above it", `the file ${JSON.stringify(files.get(sameName(folder)))}`);
      const known = folders.get(sameName(folder));
      if (known !== undefined && known !== folder)
        throw refused(path, "a path that is there once, in whatever case", `the folder ${JSON.stringify(known)} as well`);
      folders.set(sameName(folder), folder);
    }
  }
  for (const [name, folder] of folders) if (files.has(name)) throw refused(folder, "a folder", "a file of that name as well");
}

const sameName = (path: string): string => path.normalize("NFC").toLowerCase();

function* foldersOf(path: string): Generator<string> {
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) yield path.slice(0, slash);
}

/** Entries that share their bytes unpack to far more than the file holds. */
function checkPlaces(entries: readonly ZipEntryFacts[], byteLength: number): void {
  let end = 0;
  for (const { filename, offset, compressedSize } of [...entries].sort((a, b) => a.offset - b.offset)) {
    if (offset < end) throw refused(filename, "bytes of its own", "bytes that belong to another entry");
    end = offset + localHeaderLength + compressedSize;
    if (end > byteLength) throw refused(filename, `an end within the ZIP's ${byteLength} bytes`, `${end}`);
  }
}

function checkTotal(entries: readonly ZipEntryFacts[], { mostBytes }: ZipLimits): void {
  const total = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (total > mostBytes) throw refused("", `a ZIP that unpacks to at most ${mostBytes} bytes; raise mostBytes if it is yours`, `${total}`);
  const lying = entries.find(({ compressionMethod, compressedSize, uncompressedSize }) =>
    compressionMethod === 0 ? compressedSize !== uncompressedSize : uncompressedSize > (compressedSize + 1) * mostDeflated,
  );
  if (lying === undefined) return;
  throw refused(lying.filename, "sizes that fit each other", `${lying.compressedSize} bytes that become ${lying.uncompressedSize}`);
}

/** A byte of deflate becomes at most so many. */
const mostDeflated = 1032;
