import { CorruptCheckpointError } from "../errors.js";
import type { ReadableStorage } from "../storage/storage.js";
import type { TaskContext } from "../tasks/context.js";
import type { OcdbtConfig } from "./format/config.js";
import { largestRecord, openRecord } from "./format/envelope.js";
import { type ManifestVersions, manifest } from "./format/manifest.js";

/** A manifest with versions, and the file that it was read from. */
export interface OpenedManifest {
  readonly path: string;
  readonly config: OcdbtConfig;
  readonly content: ManifestVersions;
}

/** The file that makes a folder a database. */
const manifestPath = "manifest.ocdbt";

/**
 * Reads the manifest of the database in the storage's root; `undefined` where there is none. Where it holds the configuration
 * alone, the versions come from the latest numbered manifest, for which the storage must be able to list.
 */
export async function openManifest(storage: ReadableStorage, context: TaskContext): Promise<OpenedManifest | undefined> {
  const top = await readManifest(storage, manifestPath, context);
  if (top === undefined) return undefined;
  const { config, content } = top;
  return content === undefined ? openNumbered(storage, config, context) : { path: manifestPath, config, content };
}

async function readManifest(storage: ReadableStorage, path: string, context: TaskContext) {
  const bytes = await storage.read(path, { longest: largestRecord, signal: context.signal });
  return bytes === undefined ? undefined : openRecord("manifest", manifest, bytes, { path, offset: 0 }, context);
}

async function openNumbered(storage: ReadableStorage, { uuid }: OcdbtConfig, context: TaskContext): Promise<OpenedManifest> {
  const { files } = await storage.list("", { signal: context.signal });
  const path = files
    .filter((name) => /^manifest\.[0-9a-f]{16}$/.test(name))
    .sort()
    .at(-1);
  const corrupt = (expected: string, received: string) => new CorruptCheckpointError({ path: path ?? manifestPath, expected, received });
  if (path === undefined) throw corrupt("a manifest.<16 hex digits> with the versions beside it", "none");
  const numbered = await readManifest(storage, path, context);
  if (numbered?.content === undefined) throw corrupt("a manifest with versions", numbered === undefined ? "no such file" : "none");
  if (numbered.config.uuid.some((byte, i) => byte !== uuid[i])) throw corrupt(`the UUID of ${manifestPath}`, "another database's");
  const generation = numbered.content.versions.at(-1)?.generation ?? 0n;
  if (path !== `manifest.${generation.toString(16).padStart(16, "0")}`) throw corrupt("the generation of its name", `${generation}`);
  return { path, config: numbered.config, content: numbered.content };
}
