import { CheckpointValueError } from "../errors.js";
import { isWebAddress } from "../storage/hosts/address.js";

/** What errors, and saves, call the root of the browser's private file system; a directory may be called so, too. */
export const opfsScheme = /^opfs:/i;

const schemes = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Refuses text that begins as an address does and is none that can be read, so that it is not taken for a folder's path in OPFS.
 * @throws CheckpointValueError that repeats no more of it than the scheme: the rest may hold a password.
 */
export function requireScheme(text: string): void {
  const scheme = schemes.exec(text)?.[0].toLowerCase();
  if (scheme === undefined || isWebAddress(text)) return;
  const { what, instead } = explain(scheme);
  throw new CheckpointValueError(`a checkpoint directory has an http, https, gs, s3 or hf URL, not ${what}; ${instead}`);
}

function explain(scheme: string): { readonly what: string; readonly instead: string } {
  switch (scheme) {
    case "http:":
    case "https:":
      return {
        what: `an invalid ${scheme} one`,
        instead: "it looks like https://host/folder, with a port of at most 65535 where it has one",
      };
    case "gs:":
    case "s3:":
      return { what: `an incomplete ${scheme} one`, instead: `it looks like ${scheme}//bucket/path` };
    case "hf:":
      return { what: "an incomplete hf: one", instead: "it looks like hf://owner/repo@revision/path" };
    case "file:":
      return { what: scheme, instead: 'open a folder on disk with nodeStorage(fileURLToPath(url)) from "orbax-webgpu/node"' };
    case "blob:":
    case "data:":
      return { what: scheme, instead: "a ZIP that it leads to is opened with zipStorage(await (await fetch(url)).blob())" };
    default:
      return /^[a-z]:$/.test(scheme)
        ? { what: "a drive of Windows", instead: 'open a folder on disk with nodeStorage(path) from "orbax-webgpu/node"' }
        : {
            what: scheme,
            instead:
              "use the https address of the place, or a storage of your own with read and list; a folder of that name in OPFS is opfsStorage(path)",
          };
  }
}
