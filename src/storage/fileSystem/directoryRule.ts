import { type Rule, shown } from "../../arguments.js";

/** Where such handles come from, the class is not everywhere. */
export const aDirectoryHandle: Rule = {
  expected: "the handle of a folder, as showDirectoryPicker() gives it",
  accepts: (value) => (value as Partial<FileSystemHandle> | null | undefined)?.kind === "directory",
  shown,
};
