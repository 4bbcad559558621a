import { isJsonObject, longestJson, parseJson } from "../../bytes/json.js";
import { pathIn } from "../../storage/paths.js";
import type { ReadableStorage } from "../../storage/storage.js";
import type { TaskContext } from "../../tasks/context.js";
import type { Place } from "./place.js";
import { unsupportedError } from "./wrongLevel.js";

/** @throws UnsupportedCheckpointError where the metadata of what could be an array are those of a group, which only zarr v3 tells apart within. */
export async function requireNoGroup(
  { item, path }: Place,
  label: string,
  storage: ReadableStorage,
  { signal }: TaskContext,
): Promise<void> {
  if (item.kind !== "array" || item.folder?.files.has("zarr.json") !== true) return;
  const file = pathIn(path, "zarr.json");
  const bytes = await storage.read(file, { longest: longestJson, signal });
  const document = bytes && parseJson(bytes, file);
  if (isJsonObject(document) && document.node_type === "group") throw unsupportedError(pathIn(label, path), "group");
}
