import { parseJson } from "../../bytes/json.js";
import { membersOf } from "./jsonAnswer.js";

/** Name of the file that lists a folder's files for hosts that cannot; it stands in the folder itself. */
export const indexFileName = "orbax-webgpu-index.json";

const format = "orbax-webgpu index";

/** The file for a list of paths. */
export function formatIndexFile(paths: readonly string[]): Uint8Array {
  const files = paths.map((path) => `\n    ${JSON.stringify(path)}`).join(",");
  return new TextEncoder().encode(`{\n  "format": "${format}",\n  "format_version": 1,\n  "files": [${files}\n  ]\n}\n`);
}

/**
 * The paths that such a file lists; undefined for what is none, or one of a later version.
 * @throws CorruptCheckpointError for what is no JSON.
 */
export function parseIndexFile(bytes: Uint8Array): readonly string[] | undefined {
  const { format: written, format_version: version, files } = membersOf(parseJson(bytes, indexFileName)) ?? {};
  const isIndex = written === format && version === 1 && Array.isArray(files) && files.every((file) => typeof file === "string");
  return isIndex ? files : undefined;
}
