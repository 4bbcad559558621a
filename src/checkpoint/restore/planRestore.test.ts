import { describe, expect, it, vi } from "vitest";
import type { Dtype } from "../../arrays/dtypes.js";
import { CheckpointDtypeMismatchError, CheckpointTreeMismatchError, CheckpointValueError } from "../../errors.js";
import { Pace } from "../../tasks/pace.js";
import { matchNothing } from "../template/matchNothing.js";
import { matchTemplate } from "../template/matchTemplate.js";
import { jaxArray, type Nested, numpyArray, pythonNumber, pythonString, storedTree, typedKey } from "../template/storedTree.testing.js";
import { shapeDtypeStruct } from "../template/template.js";
import { planRestore, planRestoreInTurns, type RestorePolicy } from "./planRestore.js";

const device = {} as GPUDevice;
const other = {} as GPUDevice;

const plain: RestorePolicy = { step: 1, castDtypes: false, enableX64: false, device: undefined, recorded: undefined };

function plan(stored: Nested, template: unknown, policy: Partial<RestorePolicy> = {}) {
  const matched = template === undefined ? matchNothing("model", storedTree(stored)) : matchTemplate("model", storedTree(stored), template);
  return Array.from(planRestore([matched], { ...plain, ...policy }).leaves.values());
}

function mismatches(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (error instanceof CheckpointDtypeMismatchError) {
      return {
        x64Disabled: error.x64Disabled,
        pairs: error.mismatches.map(({ leaf, saved, restored }) => `${leaf}: ${saved} → ${restored}`),
      };
    }
    throw error;
  }
  throw new Error("accepted");
}

const targets = (...args: Parameters<typeof plan>) => plan(...args).map(({ spec, place, as }) => [spec.dtype, place, as]);

const struct = (dtype: Dtype, ...shape: number[]) => shapeDtypeStruct(shape, dtype);
const onDevice = (dtype: Dtype, ...shape: number[]) => shapeDtypeStruct(shape, dtype, { device });

describe("where leaves go", () => {
  it("a struct without a device takes the call's, else memory", () => {
    expect(targets(jaxArray("float32", 2), struct("float32", 2))).toEqual([["float32", "memory", "array"]]);
    expect(targets(jaxArray("float32", 2), struct("float32", 2), { device })).toEqual([["float32", device, "array"]]);
  });

  it("each leaf may name its own device", () => {
    const template = { a: shapeDtypeStruct([2], "float32", { device: other }), b: new Float32Array(2), c: struct("float32", 2) };
    const stored = { a: jaxArray("float32", 2), b: jaxArray("float32", 2), c: jaxArray("float32", 2) };
    expect(targets(stored, template, { device }).map(([, place]) => place)).toEqual([other, "memory", device]);
  });

  it("a GpuArray's template goes to its device with its usage", () => {
    const array = { shape: [2], dtype: "float32", buffer: { usage: 140 }, device: other, byteLength: 8 };
    expect(plan(jaxArray("float32", 2), array, { device })).toMatchObject([{ place: other, usage: 140, into: undefined }]);
  });

  it("without a template arrays go to the device, 64-bit numpy arrays stay in memory as Python keeps them", () => {
    const stored = {
      a: jaxArray("float32", 2),
      b: numpyArray("float32", 2),
      c: numpyArray("float64", 2),
      d: pythonNumber(),
      k: typedKey("rbg", 4),
    };
    expect(targets(stored, undefined, { device })).toEqual([
      ["float32", device, "array"],
      ["float32", device, "array"],
      ["float64", "memory", "array"],
      ["int64", "memory", "number"],
      ["uint32", device, "key"],
    ]);
  });

  it("a buffer to restore into needs a device", () => {
    const template = shapeDtypeStruct([2], "float32", { into: { size: 16, usage: 140 } as GPUBuffer });
    expect(() => plan(jaxArray("float32", 2), template)).toThrow(CheckpointValueError);
    expect(plan(jaxArray("float32", 2), template, { device })).toMatchObject([{ into: template.into }]);
  });
});

describe("dtype mismatches", () => {
  it("name all leaves of all items at once, templated items first and in the templates' order", () => {
    const rng = matchNothing("rng", storedTree(jaxArray("int64", 1)));
    const model = matchTemplate("model", storedTree({ a: jaxArray("float32", 2), b: jaxArray("bfloat16", 2) }), {
      a: struct("bfloat16", 2),
      b: struct("int8", 2),
    });
    try {
      planRestore([model, rng], { ...plain, device });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(CheckpointDtypeMismatchError);
      expect(error).toMatchObject({
        step: 1,
        x64Disabled: true,
        mismatches: [
          { item: "model", leaf: "a", saved: "float32", restored: "bfloat16" },
          { item: "model", leaf: "b", saved: "bfloat16", restored: "int8" },
          { item: "rng", leaf: "", saved: "int64", restored: "int32" },
        ],
      });
      expect(String(error)).toContain("model a: saved float32, restored as bfloat16");
      expect(String(error)).toContain("castDtypes: true");
    }
  });

  it("come before tree mismatches", () => {
    const run = () => plan({ a: jaxArray("float32", 2), b: jaxArray("float32") }, { a: struct("int8", 3) });
    expect(mismatches(run).pairs).toEqual(["a: float32 → int8"]);
  });

  it("are compared with the recorded dtype, and with the array's own where the record lacks the leaf or agrees", () => {
    const stored = { a: jaxArray("float32", 1) };
    const recorded = (dtype: string) => ({ recorded: { model: { a: dtype } } });
    expect(mismatches(() => plan(stored, { a: struct("float32", 1) }, recorded("bfloat16"))).pairs).toEqual(["a: bfloat16 → float32"]);
    expect(mismatches(() => plan(stored, undefined, recorded("bfloat16"))).pairs).toEqual(["a: bfloat16 → float32"]);
    expect(mismatches(() => plan(stored, { a: struct("bfloat16", 1) }, recorded("bfloat16"))).pairs).toEqual(["a: float32 → bfloat16"]);
    expect(mismatches(() => plan(stored, { a: struct("bfloat16", 1) }, { recorded: { model: {} } })).pairs).toEqual([
      "a: float32 → bfloat16",
    ]);
    expect(mismatches(() => plan(stored, { a: struct("bfloat16", 1) }, { recorded: {} })).pairs).toEqual(["a: float32 → bfloat16"]);
    expect(mismatches(() => plan(stored, undefined, recorded(">i4"))).pairs).toEqual(["a: >i4 → float32"]);
  });

  it("do not exist with castDtypes, which gives the template's dtype", () => {
    expect(targets(jaxArray("float32", 2), struct("bfloat16", 2), { castDtypes: true })).toEqual([["bfloat16", "memory", "array"]]);
  });

  it("of Python numbers do not exist: they take the template's dtype", () => {
    expect(targets({ a: pythonNumber(), b: pythonNumber("float64") }, { a: struct("float32"), b: struct("int32") })).toEqual([
      ["float32", "memory", "array"],
      ["int32", "memory", "array"],
    ]);
  });

  it("refuse a pair without a cast also with castDtypes, naming it", () => {
    const run = () => plan({ a: jaxArray("float8_e8m0fnu", 2) }, { a: struct("complex64", 2) }, { castDtypes: true });
    expect(mismatches(run).pairs).toEqual(["a: float8_e8m0fnu → complex64"]);
    expect(run).toThrow(/no cast/);
  });

  it("refuse to cast a typed key", () => {
    const run = () => plan({ k: typedKey("threefry2x32", 2) }, { k: struct("float32", 2) }, { castDtypes: true });
    expect(mismatches(run).pairs).toEqual(["k: uint32 of a threefry2x32 key → float32"]);
  });
});

describe("the no-x64 rule", () => {
  const pairs = [
    ["float64", "float32"],
    ["int64", "int32"],
    ["uint64", "uint32"],
    ["complex128", "complex64"],
  ] as const;

  it.each(pairs)("refuses %s bound for a device, with and without a template, naming both ways out", (dtype, narrow) => {
    for (const run of [
      () => plan(jaxArray(dtype, 2), undefined, { device }),
      () => plan(jaxArray(dtype, 2), onDevice(dtype, 2)),
      () => plan(numpyArray(dtype, 2), onDevice(dtype, 2)),
    ]) {
      expect(mismatches(run)).toEqual({ x64Disabled: true, pairs: [`: ${dtype} → ${narrow}`] });
      expect(run).toThrow(/castDtypes: true.*enableX64: true/);
    }
  });

  it.each(pairs)("narrows %s to 32 bits with castDtypes", (dtype, narrow) => {
    const cast = { castDtypes: true };
    expect(targets(jaxArray(dtype, 2), undefined, { device, ...cast })).toEqual([[narrow, device, "array"]]);
    expect(targets(jaxArray(dtype, 2), onDevice(dtype, 2), cast)).toEqual([[narrow, device, "array"]]);
  });

  it.each(pairs)("keeps %s with enableX64", (dtype) => {
    expect(targets(jaxArray(dtype, 2), undefined, { device, enableX64: true })).toEqual([[dtype, device, "array"]]);
    expect(targets(jaxArray(dtype, 2), onDevice(dtype, 2), { enableX64: true })).toEqual([[dtype, device, "array"]]);
  });

  it.each(pairs)("keeps %s in memory", (dtype) => {
    expect(targets(jaxArray(dtype, 2), undefined)).toEqual([[dtype, "memory", "array"]]);
    expect(targets(jaxArray(dtype, 2), struct(dtype, 2))).toEqual([[dtype, "memory", "array"]]);
  });

  it.each(pairs)("calls %s onto its 32-bit template an ordinary mismatch", (dtype, narrow) => {
    expect(mismatches(() => plan(jaxArray(dtype, 2), onDevice(narrow, 2)))).toEqual({
      x64Disabled: false,
      pairs: [`: ${dtype} → ${narrow}`],
    });
  });

  it("refuses a 64-bit template on a device for a 32-bit array, too", () => {
    expect(mismatches(() => plan(jaxArray("float32", 2), onDevice("float64", 2)))).toEqual({
      x64Disabled: true,
      pairs: [": float32 → float64"],
    });
    expect(targets(jaxArray("float32", 2), onDevice("float64", 2), { castDtypes: true })).toEqual([["float32", device, "array"]]);
  });

  it("holds for Python numbers onto a 64-bit template on a device", () => {
    expect(mismatches(() => plan(pythonNumber(), onDevice("int64"))).x64Disabled).toBe(true);
    expect(targets(pythonNumber(), onDevice("int64"), { castDtypes: true })).toEqual([["int32", device, "array"]]);
  });
});

describe("tree mismatches of the plan", () => {
  const differences = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      if (error instanceof CheckpointTreeMismatchError) return error.mismatches.map(({ leaf, problem }) => `${problem} ${leaf}`);
      throw error;
    }
    return [];
  };

  it("list wrong shapes and ranks of all leaves, in memory too", () => {
    const stored = { a: jaxArray("float32", 2, 3), b: numpyArray("float32", 2), c: jaxArray("float32", 2) };
    const run = () => plan(stored, { a: struct("float32", 3, 2), b: struct("float32"), c: new Float32Array(2) });
    expect(differences(run)).toEqual(["shape a", "shape b"]);
    expect(run).toThrow(/model a: shape; the template has float32\[3, 2\], the checkpoint float32\[2, 3\]/);
  });

  it("come together with those of the tree", () => {
    expect(differences(() => plan({ a: jaxArray("float32", 2), x: jaxArray("float32") }, { a: struct("float32", 3) }))).toEqual([
      "unexpected x",
      "shape a",
    ]);
  });

  it("a number stands for a rank-0 array, for no other", () => {
    expect(targets(jaxArray("float32"), 1)).toEqual([["float32", "memory", "number"]]);
    expect(differences(() => plan(jaxArray("float32", 3), 1))).toEqual(["kind "]);
  });

  it("plain values are not compared with one another", () => {
    expect(
      differences(() => plan({ a: pythonNumber(), b: pythonString, c: pythonNumber("bool") }, { a: "x", b: 1, c: { re: 0, im: 1 } })),
    ).toEqual([]);
  });

  it("an array does not stand for a string", () => {
    expect(differences(() => plan(pythonString, struct("float32")))).toEqual(["kind "]);
  });

  it("an array onto a Python number has rank 0", () => {
    expect(differences(() => plan(pythonNumber(), struct("float32", 2)))).toEqual(["shape "]);
  });
});

describe("typed keys", () => {
  const key = (impl: string, ...shape: number[]) => ({ impl, data: struct("uint32", ...shape) });

  it("come back as keys onto keys and onto uint32 arrays", () => {
    expect(targets(typedKey("threefry2x32", 2), key("threefry2x32", 2))).toEqual([["uint32", "memory", "key"]]);
    expect(targets(typedKey("threefry2x32", 3, 2), onDevice("uint32", 3, 2))).toEqual([["uint32", device, "key"]]);
  });

  it("are refused onto another implementation, shape or dtype, and raw data onto a key", () => {
    expect(() => plan(typedKey("threefry2x32", 2), key("rbg", 4))).toThrow(CheckpointTreeMismatchError);
    expect(() => plan(typedKey("threefry2x32", 2), key("threefry2x32", 3, 2))).toThrow(CheckpointTreeMismatchError);
    expect(() => plan(jaxArray("uint32", 2), key("threefry2x32", 2))).toThrow(CheckpointTreeMismatchError);
    expect(mismatches(() => plan(typedKey("threefry2x32", 2), struct("int32", 2))).pairs).toEqual([": uint32 → int32"]);
  });
});

describe("a plan in turns", () => {
  const stored = { a: jaxArray("float32", 2), b: { c: pythonNumber("int64"), d: pythonString }, e: typedKey("rbg", 4) };
  const items = [matchNothing("model", storedTree(stored)), matchNothing("rng", storedTree({ k: jaxArray("int8", 3) }))];

  it("is the same, with a rest before a leaf where one is due", async () => {
    const pace = new Pace();
    vi.spyOn(pace, "dueForSmallStep", "get").mockReturnValue(true);
    const rest = vi.spyOn(pace, "rest").mockResolvedValue();
    expect(await planRestoreInTurns(items, plain, pace)).toEqual(planRestore(items, plain));
    expect(rest).toHaveBeenCalledTimes(5);
  });

  it("fails as the other one, and where the restore was aborted", async () => {
    const recorded = { model: { a: "int8" } };
    await expect(planRestoreInTurns(items, { ...plain, recorded }, new Pace())).rejects.toThrow(CheckpointDtypeMismatchError);
    const pace = new Pace(AbortSignal.abort(new Error("stop")));
    vi.spyOn(pace, "dueForSmallStep", "get").mockReturnValue(true);
    await expect(planRestoreInTurns(items, plain, pace)).rejects.toThrow("stop");
  });
});
