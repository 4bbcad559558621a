import type { OpenSink } from "./fileSystem/fileSink.js";

/** A folder of the browser's file system that is written to. */
export interface WrittenDirectory {
  /** Opens the folder that paths begin in. `create`: makes it where it is not there. */
  openRoot(create: boolean): Promise<FileSystemDirectoryHandle | undefined>;
  /**
   * Fills a file that has a name of its own until it is moved to its place, which takes the place of another file at once.
   * Undefined where files cannot be moved so: there a stream fills the file at its place, which is empty until then where it is new.
   */
  readonly openSink?: OpenSink | undefined;
}
