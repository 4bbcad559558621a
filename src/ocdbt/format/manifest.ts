import type { Field } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import { config, type OcdbtConfig } from "./config.js";
import { type DataFile, dataFileTable } from "./dataFileTable.js";
import { type Version, versionList } from "./versionList.js";
import { manifestVersionNodes, type VersionNodeReference } from "./versionNodeReferences.js";

/** What a manifest holds behind its configuration. */
export interface ManifestVersions {
  readonly files: readonly DataFile[];
  /** The latest versions, ascending; the last is the current one. */
  readonly versions: readonly Version[];
  /** Where older versions are, the oldest first. */
  readonly versionTreeNodes: readonly VersionNodeReference[];
}

/** The root of a database. Without `content` where the versions stand in numbered manifests. */
export interface Manifest {
  readonly config: OcdbtConfig;
  readonly content?: ManifestVersions;
}

/** The body of a manifest. */
export const manifest: Field<Manifest> = {
  read(reader) {
    const settings = config.read(reader);
    if (settings.manifestKind === "numbered") return { config: settings };
    return { config: settings, content: readVersions(reader, settings.versionTreeArityLog2) };
  },
  write(writer, { config: settings, content }) {
    config.write(writer, settings);
    if (content !== undefined) writeVersions(writer, settings.versionTreeArityLog2, content);
  },
};

function readVersions(reader: ByteReader, arityLog2: number): ManifestVersions {
  const files = dataFileTable.read(reader);
  const versions = versionList(arityLog2, files).read(reader);
  const last = versions.at(-1)?.generation ?? 0n;
  return { files, versions, versionTreeNodes: manifestVersionNodes(arityLog2, files, last).read(reader) };
}

function writeVersions(writer: ByteWriter, arityLog2: number, { files, versions, versionTreeNodes }: ManifestVersions): void {
  dataFileTable.write(writer, files);
  versionList(arityLog2, files).write(writer, versions);
  manifestVersionNodes(arityLog2, files, versions.at(-1)?.generation ?? 0n).write(writer, versionTreeNodes);
}
