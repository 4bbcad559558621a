import type { StorageListing } from "./storage.js";

/** What stands directly below `prefix` among full paths, sorted; a path's further parts make a directory. */
export function listingOf(paths: Iterable<string>, prefix: string): StorageListing {
  const files = new Set<string>();
  const directories = new Set<string>();
  for (const path of paths) {
    if (!path.startsWith(prefix)) continue;
    const rest = path.slice(prefix.length);
    const slash = rest.indexOf("/");
    if (slash > 0) directories.add(rest.slice(0, slash));
    else if (slash < 0 && rest !== "") files.add(rest);
  }
  return { files: [...files].sort(), directories: [...directories].sort() };
}
