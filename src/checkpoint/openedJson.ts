import { CheckpointValueError } from "../errors.js";
import { requiredLimits } from "../gpu/limits.js";
import type { CheckpointFacts, OpenedCheckpoint } from "./openedCheckpoint.js";
import type { PlainJson } from "./record/untagged.js";

/** Makes an opened checkpoint of a JSON item, which has a value and no leaves. */
export function openedJson<Device extends GPUDevice | undefined>(facts: CheckpointFacts, value: PlainJson): OpenedCheckpoint<Device> {
  return {
    ...facts,
    layout: { tree: "json", arrays: [], zarr: [] },
    leaves: [],
    requiredLimits: () => requiredLimits([]),
    async restore({ template, signal } = {}) {
      signal?.throwIfAborted();
      if (template !== undefined && template !== null)
        throw new CheckpointValueError(`item ${JSON.stringify(facts.item ?? "")} is JSON, which comes back as stored: leave template out`);
      return structuredClone(value) as never;
    },
    async read(path) {
      throw new CheckpointValueError(
        `${JSON.stringify(path)}: item ${JSON.stringify(facts.item ?? "")} is JSON, which has no arrays to read`,
      );
    },
    destroy: () => undefined,
  };
}
