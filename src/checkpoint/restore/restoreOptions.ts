import { aBoolean, aFunction, anObject, anything, aSignal, integerFrom, oneOf, type Rule, shown } from "../../arguments.js";
import { aDevice, placementRules } from "../../gpu/deviceRules.js";
import type { ProgressEvent } from "../../tasks/context.js";
import type { Selection } from "../template/selection.js";
import type { Placement } from "../template/template.js";
import type { Region } from "./region.js";

/** What a restore does unless its call says otherwise. */
export interface RestoreDefaults<Device extends GPUDevice | undefined = GPUDevice | undefined> {
  /** Device of arrays whose template names none; left out: memory. */
  readonly device?: Device;
  /** Keeps 64-bit arrays at 64 bits in GPU buffers, for shaders that emulate them; false by default. */
  readonly enableX64?: boolean | undefined;
  /** Most bytes in flight at once; 64 MiB by default, at least 1 MiB. */
  readonly readConcurrentBytes?: number | undefined;
}

/** How arrays are read. */
export interface ReadRules<Device extends GPUDevice | undefined = GPUDevice | undefined> extends RestoreDefaults<Device> {
  /** Accepts casts to the templates' dtypes, with Orbax's values, and narrows 64-bit arrays bound for a device; false by default. */
  readonly castDtypes?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((event: ProgressEvent) => void) | undefined;
}

/** What is read of one array, and where it goes. */
export interface ReadArrayOptions<Device extends GPUDevice | undefined = GPUDevice | undefined>
  extends ReadRules<Device>,
    Pick<Placement, "usage" | "into"> {
  /** `[start, stop]` along each axis, in elements, stop excluded; `null`, and axes left out at the end, take all. Left out: the whole array. */
  readonly region?: Region | undefined;
}

/** Options of a restore. */
export interface RestoreOptions<Device extends GPUDevice | undefined = GPUDevice | undefined> extends ReadRules<Device> {
  /** Leaves to restore, by their paths; those of a step begin with the item. Only their bytes are read, and the tree has only them. All by default. */
  readonly select?: Selection | undefined;
  /**
   * What becomes of leaves that only the checkpoint or only the template has: `"error"` (default) reports them, `"skip"` leaves them out.
   * Other shapes, dtypes and kinds are errors either way.
   */
  readonly missing?: "error" | "skip" | undefined;
}

/** Options of a restore that leaves nothing out. */
export interface WholeRestoreOptions<Device extends GPUDevice | undefined = GPUDevice | undefined> extends RestoreOptions<Device> {
  readonly select?: undefined;
  readonly missing?: "error" | undefined;
}

/** Most bytes in flight unless told. */
export const defaultReadConcurrentBytes = 64 * 1024 * 1024;
const leastReadConcurrentBytes = 1024 * 1024;

const aSelection: Rule = {
  expected: "a glob over paths of leaves, a list of at least one, or a function of a leaf",
  accepts: (value) =>
    ["string", "function"].includes(typeof value) ||
    (Array.isArray(value) && value.length > 0 && value.every((glob) => typeof glob === "string")),
  shown,
};

/** Of {@link RestoreDefaults}. */
export const restoreDefaultRules = {
  device: aDevice,
  enableX64: aBoolean,
  readConcurrentBytes: integerFrom(leastReadConcurrentBytes, ", in bytes"),
};

const readRules = { ...restoreDefaultRules, castDtypes: aBoolean, signal: aSignal, onProgress: aFunction };

/** Of {@link ReadArrayOptions}; what a region may be depends on the array. */
export const readArrayRules = { ...readRules, ...placementRules, region: anything };

const restoreRules = { ...readRules, select: aSelection, missing: oneOf("error", "skip") };

/** Of {@link RestoreOptions} of one item; what its template may be depends on the tree. */
export const itemRestoreRules = { ...restoreRules, template: anything };

/** Of {@link RestoreOptions} of several items. */
export const stepRestoreRules = { ...restoreRules, templates: anObject };
