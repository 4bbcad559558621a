import { describe, expectTypeOf, it } from "vitest";
import type { HostArray } from "../../arrays/hostArray.js";
import type { PrngKey } from "../../arrays/prngKey.js";
import type { GpuArray } from "../../gpu/gpuArray.js";
import type { RestoredTree } from "../item/leaves.js";
import type { OrbaxCheckpointStore } from "../store.js";
import type { RestoredItemsOf, Template, Templates } from "./restoredTypes.js";
import { shapeDtypeStruct } from "./template.js";
import { templateOf } from "./templateOf.js";

declare const store: OrbaxCheckpointStore;
declare const deviceStore: OrbaxCheckpointStore<GPUDevice>;
const device = {} as GPUDevice;
declare const gpuArray: GpuArray<"bfloat16">;
declare const hostArray: HostArray<"int8">;

const struct = shapeDtypeStruct([2], "float32");
const placed = shapeDtypeStruct([2], "float32", { device });

type Items<T extends { readonly [item: string]: never }> = RestoredItemsOf<T>;

describe("the types of a restored tree", () => {
  it("follow the template's leaves", () => {
    const restore = () =>
      store.restore(1, {
        templates: { model: { a: placed, b: [struct, gpuArray, 5], c: { d: hostArray, e: new Float32Array(2), f: null, g: "x" } } },
      });
    type Model = Awaited<ReturnType<typeof restore>>["items"]["model"];
    expectTypeOf<Model["a"]>().toEqualTypeOf<GpuArray<"float32">>();
    expectTypeOf<Model["b"][0]>().toEqualTypeOf<HostArray<"float32">>();
    expectTypeOf<Model["b"][1]>().toEqualTypeOf<GpuArray<"bfloat16">>();
    expectTypeOf<Model["b"][2]>().toEqualTypeOf<number>();
    expectTypeOf<Model["c"]["d"]>().toEqualTypeOf<HostArray<"int8">>();
    expectTypeOf<Model["c"]["e"]>().toEqualTypeOf<HostArray<"float32">>();
    expectTypeOf<Model["c"]["f"]>().toEqualTypeOf<null>();
    expectTypeOf<Model["c"]["g"]>().toEqualTypeOf<string>();
  });

  it("take the call's device, else the store's, for structs without one", () => {
    const onCallsDevice = () => store.restore(1, { device, templates: { model: { a: struct } } });
    const onStoresDevice = () => deviceStore.restore(1, { templates: { model: { a: struct } } });
    expectTypeOf<Awaited<ReturnType<typeof onCallsDevice>>["items"]["model"]["a"]>().toEqualTypeOf<GpuArray<"float32">>();
    expectTypeOf<Awaited<ReturnType<typeof onStoresDevice>>["items"]["model"]["a"]>().toEqualTypeOf<GpuArray<"float32">>();
  });

  it("are keys for keys, and keys or arrays for uint32", () => {
    const key = { impl: "rbg", data: shapeDtypeStruct([4], "uint32", { device }) };
    const restore = () => store.restore(1, { templates: { rng: { k: key, u: shapeDtypeStruct([4], "uint32") } } });
    type Rng = Awaited<ReturnType<typeof restore>>["items"]["rng"];
    expectTypeOf<Rng["k"]>().toEqualTypeOf<PrngKey<GpuArray<"uint32">>>();
    expectTypeOf<Rng["u"]>().toEqualTypeOf<HostArray<"uint32"> | PrngKey<HostArray<"uint32">>>();
  });

  it("are those of any tree for items without a template", () => {
    const restore = () => store.restore(1, { templates: { model: struct, optimizer: null } });
    type Restored = Awaited<ReturnType<typeof restore>>["items"];
    expectTypeOf<Restored["model"]>().toEqualTypeOf<HostArray<"float32">>();
    expectTypeOf<Restored["optimizer"]>().toEqualTypeOf<RestoredTree>();
    expectTypeOf<Restored["rng"]>().toEqualTypeOf<RestoredTree | undefined>();
    expectTypeOf<Items<Record<never, never>>["model"]>().toEqualTypeOf<RestoredTree | undefined>();
  });

  it("of one item follow its template", () => {
    const restore = async () => (await store.open(1)).items.model?.restore({ device, template: [struct] });
    expectTypeOf<NonNullable<Awaited<ReturnType<typeof restore>>>>().toEqualTypeOf<readonly [GpuArray<"float32">]>();
  });

  it("are in part those of the template where leaves may be left out", () => {
    const template = { a: { b: placed, c: 5 }, l: [struct, null] as const };
    const skipping = () => store.restore(1, { missing: "skip", templates: { model: template } });
    type Part = { readonly a?: { readonly b?: GpuArray<"float32">; readonly c?: number } };
    type Skipping = NonNullable<Awaited<ReturnType<typeof skipping>>["items"]["model"]>;
    expectTypeOf<Skipping>().toExtend<Part>();
    expectTypeOf<Part["a"]>().toExtend<Skipping["a"]>();
    expectTypeOf<NonNullable<Skipping["l"]>>().toEqualTypeOf<readonly [HostArray<"float32"> | null, null]>();
    const selecting = async () => (await store.open(1)).items.model?.restore({ select: "a/**", template });
    expectTypeOf<NonNullable<Awaited<ReturnType<typeof selecting>>>>().toExtend<Part>();
    const ofItems = () => store.restore(1, { select: ({ bytes }) => bytes > 0, templates: { model: template } });
    expectTypeOf<Awaited<ReturnType<typeof ofItems>>["items"]["model"]>().toExtend<Part | undefined>();
    const strict = () => store.restore(1, { missing: "error", templates: { model: template } });
    expectTypeOf<Awaited<ReturnType<typeof strict>>["items"]["model"]["a"]["b"]>().toEqualTypeOf<GpuArray<"float32">>();
  });

  it("are those of any tree for templates made as the program runs", () => {
    const known: Record<string, Template> = {};
    const restore = (templates: Templates, template: Template) =>
      store.restore(1, { device, templates: { ...templates, optimizer: template, rng: { known, list: [template], struct } } });
    type Restored = Awaited<ReturnType<typeof restore>>["items"];
    expectTypeOf<NonNullable<Restored["model"]>>().toEqualTypeOf<NonNullable<RestoredTree>>();
    expectTypeOf<Restored["optimizer"]>().toEqualTypeOf<RestoredTree>();
    expectTypeOf<Restored["rng"]["known"]>().toEqualTypeOf<{ [key: string]: RestoredTree }>();
    expectTypeOf<Restored["rng"]["list"][0]>().toEqualTypeOf<RestoredTree>();
    expectTypeOf<Restored["rng"]["struct"]>().toEqualTypeOf<GpuArray<"float32">>();
  });

  it("make templates of templateOf, of known trees and of any", () => {
    const again = async (tree: RestoredTree) =>
      store.restore(1, { templates: { model: templateOf(tree), optimizer: templateOf({ a: gpuArray }) } });
    type Restored = Awaited<ReturnType<typeof again>>["items"];
    expectTypeOf<Restored["model"]>().toEqualTypeOf<RestoredTree>();
    expectTypeOf<Restored["optimizer"]["a"]>().toEqualTypeOf<GpuArray<"bfloat16">>();
    const all = async () => store.restore(1, { templates: templateOf((await store.restore(1)).items) });
    expectTypeOf<NonNullable<Awaited<ReturnType<typeof all>>["items"]["model"]>>().toEqualTypeOf<NonNullable<RestoredTree>>();
  });
});
