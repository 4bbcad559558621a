import { describe, expect, it } from "vitest";
import { FakeDevice } from "../../gpu/fakeDevice.testing.js";
import { leafPath } from "../../pytree/keyPath.js";
import { shapeDtypeStruct } from "../template/template.js";
import { planSave } from "./planSave.js";
import { pyFloat } from "./saveable.js";

const plan = (model: unknown) => planSave({ model }, new Map());

/** Kind, dtype and shape by path of a planned tree. */
function leavesOf(tree: unknown): Record<string, string> {
  const [item] = plan(tree).items;
  return Object.fromEntries(
    (item?.nodes ?? []).map((node) => {
      const path = leafPath(node.path.slice(1));
      if (!("leaf" in node)) return [path, node.valueType];
      const { leaf } = node;
      return [path, leaf.kind === "string" ? `string ${leaf.text}` : `${leaf.kind} ${leaf.dtype}[${leaf.shape}]`];
    }),
  );
}

const problemOf = (tree: unknown): string => {
  try {
    plan(tree);
    return "no problem";
  } catch (error) {
    return String(error);
  }
};

describe("planSave", () => {
  it("stores values as Python would", () => {
    const tree = {
      int: 2,
      negative: -5,
      big: 2n ** 63n,
      float: 2.5,
      whole: pyFloat(2),
      zero: -0,
      large: 1e300,
      nan: Number.NaN,
      yes: true,
      text: "",
      complex: { re: 1, im: 2 },
      none: null,
      list: [],
      dict: {},
      nested: [{ a: 1 }, [null]],
    };
    expect(leavesOf(tree)).toEqual({
      int: "scalar int64[]",
      negative: "scalar int64[]",
      big: "scalar uint64[]",
      float: "scalar float64[]",
      whole: "scalar float64[]",
      zero: "scalar float64[]",
      large: "scalar float64[]",
      nan: "scalar float64[]",
      yes: "scalar bool[]",
      text: "string ",
      complex: "scalar complex128[]",
      none: "None",
      list: "List",
      dict: "Dict",
      "nested/0/a": "scalar int64[]",
      "nested/1/0": "None",
    });
  });

  it("stores arrays as JAX's, those of 64 bits as NumPy's, and keys as keys", () => {
    const device = new FakeDevice();
    const buffer = device.createBuffer({ size: 16, usage: 4 }).gpu;
    const data = new Uint32Array(2);
    const tree = {
      bare: new Int16Array(3),
      wide: new BigInt64Array(2),
      doubles: new Float64Array(2),
      host: { shape: [2, 1], dtype: "bfloat16", data: new Uint16Array(2) },
      scalar: { shape: [], dtype: "int4", data: new Int8Array(1) },
      gpu: { shape: [3], dtype: "float32", buffer, device: device.gpu },
      key: { impl: "threefry2x32", data },
      dict: { impl: "text", more: 1, data },
    };
    expect(leavesOf(tree)).toEqual({
      bare: "jax.Array int16[3]",
      wide: "np.ndarray int64[2]",
      doubles: "np.ndarray float64[2]",
      host: "jax.Array bfloat16[2,1]",
      scalar: "jax.Array int4[]",
      gpu: "jax.Array float32[3]",
      key: "jax.Array uint32[2]",
      "dict/impl": "string text",
      "dict/more": "scalar int64[]",
      "dict/data": "jax.Array uint32[2]",
    });
    expect(plan(tree)).toMatchObject({ totalBytes: 6 + 16 + 16 + 4 + 1 + 12 + 8 + 8 + 8, totalLeaves: 9 });
  });

  it("takes a bare leaf, and keys of any kind", () => {
    expect(leavesOf(Float32Array.of(1))).toEqual({ "": "jax.Array float32[1]" });
    expect(leavesOf(null)).toEqual({ "": "None" });
    const odd = JSON.parse('{"__proto__": 1, "": 2, "a.b": 3, "日本": 4}');
    expect(Object.keys(leavesOf(odd)).sort()).toEqual(["", "__proto__", "a.b", "日本"]);
  });

  it("leaves dtypes out where two leaves of one path differ in theirs, and only there", () => {
    const [one] = plan({ "a/b": new Float32Array(1), a: { b: new Int32Array(1) } }).items;
    const [other] = plan({ "a/b": new Float32Array(1), a: { b: new Float32Array(1) } }).items;
    expect([one?.dtypes, other?.dtypes]).toEqual([undefined, new Map([["a/b", "float32"]])]);
  });

  it("names every part that cannot be saved", () => {
    const device = new FakeDevice();
    const small = device.createBuffer({ size: 8, usage: 4 }).gpu;
    const closed = device.createBuffer({ size: 64, usage: 8 }).gpu;
    const gpu = { shape: [3], dtype: "float32", device: device.gpu };
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    const tree = {
      empty: new Float32Array(0),
      flat: { shape: [0, 3], dtype: "int8", data: new Int8Array(0) },
      map: new Map(),
      nothing: undefined,
      run: () => {},
      deep: [{ template: shapeDtypeStruct([1], "float32") }],
      short: { shape: [3], dtype: "float32", data: new Float32Array(2) },
      wrong: { shape: [2], dtype: "float32", data: new Int8Array(8) },
      dtype: { shape: [1], dtype: "float31", data: new Float32Array(1) },
      uint4: { shape: [2], dtype: "uint4", data: new Uint8Array(2) },
      shape: { shape: [-1], dtype: "float32", data: new Float32Array(1) },
      key: { impl: "rbg", data: new Int32Array(4) },
      small: { ...gpu, buffer: small },
      closed: { ...gpu, buffer: closed },
      beyond: 2n ** 64n,
      half: "\ud800",
      "til~de": "text",
      "a.b": 1,
      a: { b: 2 },
      view: new DataView(new ArrayBuffer(8)),
    };
    const problem = problemOf(tree);
    for (const path of Object.keys(tree).filter((name) => name !== "a" && name !== "deep")) expect(problem).toContain(`model/${path} `);
    expect(problem).toContain("model/deep/0/template is a template");
    expect(problem).toMatch(/model\/flat is int8 of shape \[0, 3\], an array without elements/);
    expect(problem).toMatch(/model\/uint4 is uint4 of shape \[2\], which Orbax neither saves nor restores; save it as uint8/);
    expect(problem).toMatch(/model\/short is float32 of shape \[3\], but its data is a Float32Array of 8 bytes in place of 12/);
    expect(problem).toMatch(/model\/a\.b has the same name on disk, "tree\.a\.b", as \["tree","a","b"\]/);
    expect(problemOf(loop)).toMatch(/^.{0,300}… nests deeper than 512; does it hold itself\?$/);
    expect(problemOf({ ["x".repeat(70_000)]: new Int8Array(1) })).toMatch(/too long a name/);
  });
});
