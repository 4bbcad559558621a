import { OrbaxCheckpointStore, type ShapeDtypeStruct, shapeDtypeStruct, templateOf } from "orbax-webgpu";
import { countBuffers } from "./countBuffers.js";
import { mapStructs } from "./mapStructs.js";
import { testDevice } from "./testDevice.js";

/** What is wrong with a restore onto a device. */
export type Spoilt = "every dtype" | "one dtype" | "a shape" | "a leaf too many" | "a leaf too few" | "64 bits" | "64 bits in templates";

/** How a restore was refused. */
export interface Refusal {
  readonly name: string;
  readonly message: string;
  readonly mismatches: readonly Readonly<Record<string, unknown>>[];
  readonly x64Disabled: boolean | undefined;
  /** Arrays of the step. */
  readonly arrays: number;
  /** Buffers that the restore made. */
  readonly made: number;
}

/** Templates of what a step holds, asked for with a query so that the server can tell these requests from others. */
async function templatesOf(url: string, step: number): Promise<Record<string, never>> {
  const { items } = await new OrbaxCheckpointStore(`${url}?templates`).restore(step);
  return templateOf<unknown>(items) as Record<string, never>;
}

/** Spoils a restore and says how it was refused. */
export async function refusal(url: string, step: number, spoilt: Spoilt): Promise<Refusal> {
  const templates = await templatesOf(url, step);
  let arrays = 0;
  mapStructs(templates, () => arrays++);
  const device = await testDevice();
  const buffers = countBuffers(device);
  const store = new OrbaxCheckpointStore(url, { device });
  const error = await store.restore(step, spoilt === "64 bits" ? {} : { templates: spoil(templates, spoilt) }).then(
    () => new Error("the restore was not refused"),
    (reason: unknown) => reason,
  );
  const { name, message, mismatches = [], x64Disabled } = error as Error & Partial<Refusal>;
  return { name, message, mismatches, x64Disabled, arrays, made: buffers().made };
}

function spoil(templates: Record<string, never>, spoilt: Spoilt): Record<string, never> {
  const copy = mapStructs(templates, spoilt === "every dtype" ? otherDtype : (struct) => struct) as Record<string, never>;
  const place = firstStruct(copy);
  if (place === undefined) throw new Error("the templates hold no array in a dict");
  const { parent, key, struct } = place;
  if (spoilt === "one dtype") parent[key] = otherDtype(struct);
  if (spoilt === "a shape") parent[key] = shapeDtypeStruct([...struct.shape, 1], struct.dtype);
  if (spoilt === "a leaf too many") parent[`${key} too`] = struct;
  if (spoilt === "a leaf too few") delete parent[key];
  return copy;
}

const otherDtype = ({ shape, dtype }: ShapeDtypeStruct) => shapeDtypeStruct(shape, dtype === "float32" ? "int32" : "float32");

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
  readonly struct: ShapeDtypeStruct;
}

/** The first array that stands in a dict. */
function firstStruct(node: object): Place | undefined {
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== "object" || child === null || "impl" in node) continue;
    const isStruct = "dtype" in child && "shape" in child;
    if (isStruct && !Array.isArray(node)) return { parent: node as Record<string, unknown>, key, struct: child };
    const below = isStruct ? undefined : firstStruct(child);
    if (below !== undefined) return below;
  }
  return undefined;
}
