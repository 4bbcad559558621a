import { type Field, u8 } from "../../bytes/fields.js";
import type { ByteReader } from "../../bytes/reader.js";
import type { ByteWriter } from "../../bytes/writer.js";
import { arityLog2 } from "./config.js";
import { type DataFile, dataFileTable } from "./dataFileTable.js";
import { type Version, versionList } from "./versionList.js";
import { greatestHeight, type VersionNodeReference, versionNodeChildren } from "./versionNodeReferences.js";

/** A node of the tree of versions that no longer stand in the manifest. */
export type VersionTreeNode = { readonly versionTreeArityLog2: number; readonly files: readonly DataFile[] } & (
  | { readonly kind: "leaf"; readonly height: 0; readonly versions: readonly Version[] }
  | { readonly kind: "interior"; readonly height: number; readonly children: readonly VersionNodeReference[] }
);

/** The body of a version-tree node. */
export const versionTreeNode: Field<VersionTreeNode> = { read, write };

function read(reader: ByteReader): VersionTreeNode {
  const versionTreeArityLog2 = arityLog2.read(reader);
  const height = u8.read(reader);
  const files = dataFileTable.read(reader);
  if (height === 0) {
    return { kind: "leaf", versionTreeArityLog2, height, files, versions: versionList(versionTreeArityLog2, files).read(reader) };
  }
  const most = greatestHeight(versionTreeArityLog2);
  if (height > most) throw reader.corrupt(`a height of at most ${most}`, `${height}`);
  const children = versionNodeChildren(versionTreeArityLog2, files, height).read(reader);
  return { kind: "interior", versionTreeArityLog2, height, files, children };
}

function write(writer: ByteWriter, node: VersionTreeNode): void {
  arityLog2.write(writer, node.versionTreeArityLog2);
  u8.write(writer, node.height);
  dataFileTable.write(writer, node.files);
  if (node.kind === "leaf") versionList(node.versionTreeArityLog2, node.files).write(writer, node.versions);
  else versionNodeChildren(node.versionTreeArityLog2, node.files, node.height).write(writer, node.children);
}
