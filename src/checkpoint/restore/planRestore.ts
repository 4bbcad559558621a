import { canCast, type Dtype, dtypes, narrowDtype } from "../../arrays/dtypes.js";
import { type ArraySpec, elementCount } from "../../arrays/spec.js";
import {
  CheckpointDtypeMismatchError,
  CheckpointTreeMismatchError,
  CheckpointValueError,
  type DtypeMismatch,
  type TreeMismatch,
} from "../../errors.js";
import { leavesOf, type TreeNode } from "../../pytree/tree.js";
import type { Pace } from "../../tasks/pace.js";
import type { ArrayLeaf } from "../item/leaves.js";
import type { RecordedDtypes } from "../record/recordedDtypes.js";
import { describeStored, describeTemplate } from "../template/describe.js";
import type { MatchedItem, MatchedLeaf } from "../template/matchNothing.js";
import type { ArrayTemplate } from "../template/template.js";

/** What a restore was asked for, beside the templates. */
export interface RestorePolicy {
  readonly step: number | undefined;
  /** Accepts casts, with Orbax's values. */
  readonly castDtypes: boolean;
  /** Keeps 64-bit dtypes in GPU buffers, for shaders that emulate them. */
  readonly enableX64: boolean;
  /** Device of leaves whose template names none. */
  readonly device: GPUDevice | undefined;
  /** The `dtypes` item; undefined where there is none, or where casts are accepted and it is not read. */
  readonly recorded: RecordedDtypes | undefined;
}

/** One array to be read, and where it goes. */
export interface PlannedLeaf {
  readonly item: string;
  readonly stored: ArrayLeaf;
  /** Shape and dtype that it gets. */
  readonly spec: ArraySpec;
  readonly place: "memory" | GPUDevice;
  readonly usage: GPUBufferUsageFlags | undefined;
  readonly into: GPUBuffer | undefined;
  /** `"number"`: comes back as a Python number. */
  readonly as: "array" | "key" | "number";
  /** Size of the restored array in bytes. */
  readonly byteLength: number;
}

/** Everything that a restore will do, known before the first chunk is requested. */
export interface RestorePlan {
  /** Those of which anything is restored. */
  readonly items: readonly { readonly item: string; readonly tree: TreeNode<MatchedLeaf> }[];
  readonly leaves: ReadonlyMap<MatchedLeaf, PlannedLeaf>;
  /** Bytes of all restored arrays. */
  readonly totalBytes: number;
}

/**
 * Decides where each leaf goes and at which dtype, and collects everything that speaks against it.
 * @throws CheckpointDtypeMismatchError with all dtype mismatches of all items; first, as in substrax.
 * @throws CheckpointTreeMismatchError with all other mismatches of all items.
 */
export function planRestore(items: readonly MatchedItem[], policy: RestorePolicy): RestorePlan {
  const planner = new RestorePlanner(policy);
  for (const { item, tree } of items) for (const matched of tree ? leavesOf(tree) : []) planner.add(item, matched);
  return planner.finish(items);
}

/** As {@link planRestore}, with rests. */
export async function planRestoreInTurns(items: readonly MatchedItem[], policy: RestorePolicy, pace: Pace): Promise<RestorePlan> {
  const planner = new RestorePlanner(policy);
  for (const { item, tree } of items) {
    for (const matched of tree ? leavesOf(tree) : []) {
      if (pace.dueForSmallStep) await pace.rest();
      planner.add(item, matched);
    }
  }
  return planner.finish(items);
}

/** Where an array goes and at which dtype. */
interface Target {
  readonly shape: readonly number[];
  readonly dtype: Dtype;
  readonly place: "memory" | GPUDevice;
  readonly usage?: GPUBufferUsageFlags | undefined;
  readonly into?: GPUBuffer | undefined;
}

class RestorePlanner {
  readonly #policy: RestorePolicy;
  readonly #leaves = new Map<MatchedLeaf, PlannedLeaf>();
  #totalBytes = 0;
  readonly #dtypeMismatches: DtypeMismatch[] = [];
  readonly #treeMismatches: TreeMismatch[] = [];
  readonly #impossibleCasts: DtypeMismatch[] = [];
  #x64Disabled = false;

  constructor(policy: RestorePolicy) {
    this.#policy = policy;
  }

  add(item: string, matched: MatchedLeaf): void {
    const planned = this.#plan(item, matched);
    if (planned === undefined) return;
    this.#leaves.set(matched, planned);
    this.#totalBytes += planned.byteLength;
  }

  /** The plan; throws where something speaks against it. */
  finish(items: readonly MatchedItem[]): RestorePlan {
    this.#throwMismatches(items.flatMap(({ mismatches }) => mismatches));
    const restored = items.flatMap(({ item, tree }) => (tree === undefined ? [] : [{ item, tree }]));
    return { items: restored, leaves: this.#leaves, totalBytes: this.#totalBytes };
  }

  #throwMismatches(earlier: readonly TreeMismatch[]): void {
    const { step } = this.#policy;
    if (this.#dtypeMismatches.length > 0) throw new CheckpointDtypeMismatchError(step, this.#dtypeMismatches, this.#x64Disabled);
    if (this.#impossibleCasts.length > 0) throw new CheckpointDtypeMismatchError(step, this.#impossibleCasts, this.#x64Disabled, "no-cast");
    const mismatches = [...earlier, ...this.#treeMismatches];
    if (mismatches.length > 0) throw new CheckpointTreeMismatchError(step, mismatches);
  }

  #plan(item: string, matched: MatchedLeaf): PlannedLeaf | undefined {
    if (matched.kind === "given") return undefined;
    const { leaf, wanted } = matched;
    if (leaf.kind === "string") {
      if (wanted !== undefined && wanted.kind !== "plain") this.#differ(item, matched, "kind");
      return undefined;
    }
    if (wanted === undefined) return this.#untemplated(item, leaf);
    switch (wanted.kind) {
      case "plain":
        return this.#ontoPlain(item, leaf, matched);
      case "array":
        return this.#ontoArray(item, leaf, wanted, matched);
      case "key":
        if (leaf.keyImpl !== wanted.impl) return this.#differ(item, matched, "kind");
        return this.#ontoArray(item, leaf, wanted.data, matched);
      default:
        return wanted satisfies never;
    }
  }

  /** As stored: on the device if there is one, but 64-bit numpy arrays stay in memory as Python keeps them. */
  #untemplated(item: string, leaf: ArrayLeaf): PlannedLeaf | undefined {
    const { spec } = leaf.array;
    if (leaf.kind === "scalar") return planned(item, leaf, { ...spec, place: "memory" }, "number");
    const staysInMemory = leaf.kind === "np.ndarray" && narrowDtype(spec.dtype) !== spec.dtype;
    const place = staysInMemory ? "memory" : (this.#policy.device ?? "memory");
    return this.#compared(item, leaf, { ...spec, place });
  }

  /** A Python value is not compared; a number may stand for an array of rank 0. */
  #ontoPlain(item: string, leaf: ArrayLeaf, matched: MatchedLeaf): PlannedLeaf | undefined {
    const fits = leaf.array.spec.shape.length === 0 && leaf.keyImpl === undefined;
    return fits ? planned(item, leaf, { ...leaf.array.spec, place: "memory" }, "number") : this.#differ(item, matched, "kind");
  }

  #ontoArray(item: string, leaf: ArrayLeaf, wanted: ArrayTemplate, matched: MatchedLeaf): PlannedLeaf | undefined {
    const place = wanted.place === "default" ? (this.#policy.device ?? "memory") : wanted.place;
    if (place === "memory" && wanted.into !== undefined) {
      throw new CheckpointValueError(`${item} ${leaf.path}: a template with a buffer to restore into needs a device; pass device as well`);
    }
    const { shape } = leaf.array.spec;
    if (shape.length !== wanted.shape.length || shape.some((length, axis) => length !== wanted.shape[axis]))
      this.#differ(item, matched, "shape");
    return this.#compared(item, leaf, { shape, dtype: wanted.dtype, place, usage: wanted.usage, into: wanted.into });
  }

  /** Applies the dtype rules to an array bound for a target. */
  #compared(item: string, leaf: ArrayLeaf, target: Target): PlannedLeaf | undefined {
    const { castDtypes, enableX64 } = this.#policy;
    const stored = leaf.array.spec.dtype;
    const narrow = target.place !== "memory" && !enableX64 ? narrowDtype(target.dtype) : target.dtype;
    const dtype = castDtypes || leaf.kind === "scalar" ? narrow : target.dtype;
    if (!castDtypes) {
      const saved = this.#savedDtype(item, leaf, target.dtype);
      if (saved !== target.dtype || narrow !== target.dtype)
        this.#mismatch(item, leaf, saved, saved === narrow ? target.dtype : narrow, narrow !== target.dtype);
    }
    if (castDtypes && leaf.keyImpl !== undefined && dtype !== stored) {
      this.#impossibleCasts.push({ item, leaf: leaf.path, saved: `${stored} of a ${leaf.keyImpl} key`, restored: dtype });
    } else if (dtype !== stored && (castDtypes || leaf.kind === "scalar") && !canCast(stored, dtype)) {
      this.#impossibleCasts.push({ item, leaf: leaf.path, saved: stored, restored: dtype });
    }
    return planned(item, leaf, { ...target, dtype }, leaf.keyImpl === undefined ? "array" : "key");
  }

  /**
   * The dtype that stands for the saved one: the recorded one, but the array's own where the record agrees with the template and the array
   * does not, or where there is none. Python numbers take the template's dtype and are never compared.
   */
  #savedDtype(item: string, leaf: ArrayLeaf, wanted: Dtype): string {
    if (leaf.kind === "scalar") return wanted;
    const { recorded } = this.#policy;
    const names = recorded !== undefined && Object.hasOwn(recorded, item) ? recorded[item] : undefined;
    const name = names !== undefined && Object.hasOwn(names, leaf.path) ? names[leaf.path] : undefined;
    return name === undefined || name === wanted ? leaf.array.spec.dtype : name;
  }

  #mismatch(item: string, leaf: ArrayLeaf, saved: string, restored: string, x64: boolean): void {
    this.#dtypeMismatches.push({ item, leaf: leaf.path, saved, restored });
    this.#x64Disabled ||= x64;
  }

  #differ(item: string, matched: MatchedLeaf, problem: "shape" | "kind"): undefined {
    if (matched.kind === "given" || matched.wanted === undefined) return;
    const { leaf, wanted } = matched;
    this.#treeMismatches.push({ item, leaf: leaf.path, problem, expected: describeTemplate(wanted), received: describeStored(leaf) });
  }
}

function planned(item: string, stored: ArrayLeaf, target: Target, as: PlannedLeaf["as"]): PlannedLeaf {
  const { shape, dtype, place, usage, into } = target;
  return { item, stored, spec: { shape, dtype }, place, usage, into, as, byteLength: elementCount(shape) * dtypes[dtype].itemsize };
}
