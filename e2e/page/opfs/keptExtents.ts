import { parseExtentName, parseGrowingName } from "../../../src/storage/mirror/extents.js";
import { parseFileRecord } from "../../../src/storage/mirror/records.js";
import { opfsFolder } from "./files.js";

/** Bytes of one of a mirror's files that are in its cache. */
export interface KeptExtent {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
  /** True where the file that keeps them is as long as its name says, or says no length, as one that grew until its writer ended. */
  readonly isWhole: boolean;
}

/** What the mirrors in a cache have, by what stands in its folder, and names of files that nobody finished. */
export async function keptExtents(cache: string): Promise<{ readonly extents: KeptExtent[]; readonly unfinished: string[] }> {
  const extents: KeptExtent[] = [];
  const unfinished: string[] = [];
  const visit = async (folder: FileSystemDirectoryHandle): Promise<void> => {
    const files: File[] = [];
    for await (const entry of folder.values()) {
      if (entry.kind === "directory") await visit(await folder.getDirectoryHandle(entry.name));
      else files.push(await (await folder.getFileHandle(entry.name)).getFile());
    }
    unfinished.push(...files.filter(({ name }) => /\.(partial|growing)$/.test(name)).map(({ name }) => name));
    const stored = files.find(({ name }) => name === "record.json");
    const record = parseFileRecord(stored && new Uint8Array(await stored.arrayBuffer()));
    for (const { name, size } of files) {
      const growing = parseGrowingName(name);
      const extent = growing ? { ...growing, length: size } : parseExtentName(name);
      if (record === undefined || extent === undefined || extent.id !== record.id) continue;
      extents.push({ path: record.path, offset: extent.offset, length: extent.length, isWhole: size === extent.length });
    }
  };
  await visit(await opfsFolder(cache));
  return { extents, unfinished };
}
