import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, expectTypeOf, it } from "vitest";
import type {
  BufferLimits,
  Checkpoint,
  CheckpointDirectory,
  CheckpointKind,
  CheckpointMetadata,
  CheckpointStore,
  DtypeMismatch,
  GpuArray,
  HostArray,
  HttpStorageOptions,
  ItemLayout,
  LeafInfo,
  LockOptions,
  OpenedCheckpoint,
  OpenedStep,
  OpenOptions,
  OrbaxMetadata,
  PlainJson,
  Producer,
  ReadableStorage,
  RestoredLeaf,
  RestoredTree,
  Saveable,
  SaveableItems,
  SaveOptions,
  Saving,
  ShapeDtypeStruct,
  StoreOptions,
  TreeMismatch,
  WritableStorage,
} from "./index.js";
import * as orbax from "./index.js";
import * as node from "./node.js";

// What users can import. A change here is a change for them: it belongs into CHANGELOG.md.
const values = [
  "CheckpointDtypeMismatchError",
  "CheckpointMetadata",
  "CheckpointNotFoundError",
  "CheckpointNotWrittenError",
  "CheckpointTreeMismatchError",
  "CheckpointValidationError",
  "CheckpointValueError",
  "CorruptCheckpointError",
  "DeviceError",
  "OrbaxCheckpointStore",
  "Producer",
  "StorageError",
  "UnsupportedCheckpointError",
  "copySteps",
  "directoryStorage",
  "hostArray",
  "httpStorage",
  "isCheckpointError",
  "memoryStorage",
  "mirrored",
  "openCheckpoint",
  "opfsStorage",
  "pyFloat",
  "recallDirectory",
  "rememberDirectory",
  "resolveCheckpointDir",
  "shapeDtypeStruct",
  "templateOf",
  "writeIndex",
  "zipSteps",
  "zipStorage",
];

const types = [
  "BestStepOptions",
  "BufferLimits",
  "ByteRange",
  "Checkpoint",
  "CheckpointDirectory",
  "CheckpointErrorKind",
  "CheckpointErrors",
  "CheckpointKind",
  "CheckpointStore",
  "Complex",
  "Compression",
  "CopyStepsOptions",
  "CreateOptions",
  "DirectoryLocks",
  "Dtype",
  "DtypeMismatch",
  "Extent",
  "FactsOptions",
  "FileFacts",
  "FileWriter",
  "GpuArray",
  "GpuArrayLike",
  "HostArray",
  "HostArrayTemplate",
  "HostData",
  "HttpStorageOptions",
  "ItemLayout",
  "ItemName",
  "LeafInfo",
  "LockOptions",
  "LockRequest",
  "Mirror",
  "MirrorOptions",
  "MirrorProgress",
  "OpenOptions",
  "OpenedCheckpoint",
  "OpenedStep",
  "OrbaxMetadata",
  "PartlyRestored",
  "Placed",
  "Placement",
  "PlainJson",
  "PlainValue",
  "PrngKey",
  "ProgressEvent",
  "PyFloat",
  "ReadArrayOptions",
  "ReadOptions",
  "ReadRules",
  "ReadStepOptions",
  "ReadableStorage",
  "Region",
  "RestoreDefaults",
  "RestoreOptions",
  "Restored",
  "RestoredArray",
  "RestoredCheckpoint",
  "RestoredItemsOf",
  "RestoredLeaf",
  "RestoredTree",
  "SaveOptions",
  "Saveable",
  "SaveableItems",
  "SaveableLeaf",
  "Saving",
  "Selection",
  "ShapeDtypeStruct",
  "StorageErrorReason",
  "StorageListing",
  "StoreOptions",
  "Template",
  "TemplateOf",
  "Templates",
  "TreeMismatch",
  "TypedArray",
  "ValidationIssue",
  "WholeRestoreOptions",
  "WritableStorage",
  "ZipStepsOptions",
  "ZipStorageOptions",
];

/** Names that a front door exports, sorted; each must be spelled out there. */
function namesIn(file: string): { all: string[]; onlyTypes: string[] } {
  const source = ts.createSourceFile(file, readFileSync(join(import.meta.dirname, file), "utf8"), ts.ScriptTarget.Latest);
  const all: string[] = [];
  const onlyTypes: string[] = [];
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined || !ts.isNamedExports(statement.exportClause)) {
      throw new Error(`${file} has a statement that is no list of exports: ${statement.kind}`);
    }
    for (const { name, isTypeOnly } of statement.exportClause.elements) {
      all.push(name.text);
      if (isTypeOnly || statement.isTypeOnly) onlyTypes.push(name.text);
    }
  }
  return { all: all.sort(), onlyTypes: onlyTypes.sort() };
}

describe("the public names", () => {
  it("of the package are these", () => {
    expect(Object.keys(orbax).sort()).toEqual(values);
    const { all, onlyTypes } = namesIn("index.ts");
    expect(onlyTypes).toEqual(types);
    expect(all).toEqual([...values, ...types].sort());
  });

  it("of orbax-webgpu/node are these", () => {
    expect(Object.keys(node)).toEqual(["nodeStorage"]);
    expect(namesIn("node.ts").all).toEqual(["nodeStorage"]);
  });
});

// Checked by the compiler: the type check fails where one differs.
describe("the public types", () => {
  const store = () => new orbax.OrbaxCheckpointStore("https://localhost/checkpoints");
  type Store = ReturnType<typeof store>;

  it("of the store are these", () => {
    expectTypeOf(orbax.OrbaxCheckpointStore).toBeConstructibleWith("https://localhost", { maxToKeep: null, enableX64: true });
    expectTypeOf<ConstructorParameters<typeof orbax.OrbaxCheckpointStore<undefined>>>().toEqualTypeOf<
      [directory: CheckpointDirectory, options?: StoreOptions<undefined>]
    >();
    expectTypeOf<CheckpointDirectory>().toEqualTypeOf<string | URL | ReadableStorage>();
    expectTypeOf<Store>().toExtend<CheckpointStore>();
    expectTypeOf<Store["open"]>().returns.resolves.toEqualTypeOf<OpenedStep>();
    expectTypeOf<Store["readMetadata"]>().returns.resolves.toEqualTypeOf<CheckpointMetadata>();
    expectTypeOf<Store["listSteps"]>().returns.resolves.toEqualTypeOf<number[]>();
    expectTypeOf<Store["latestStep"]>().returns.resolves.toEqualTypeOf<number | null>();
    expectTypeOf<Store["bestStep"]>().returns.resolves.toEqualTypeOf<number | null>();
    expectTypeOf<CheckpointStore["save"]>().toEqualTypeOf<(step: number, items: SaveableItems, options?: SaveOptions) => Saving>();
    expectTypeOf<CheckpointStore["delete"]>().toEqualTypeOf<(step: number, options?: LockOptions) => Promise<void>>();
    expectTypeOf<Saving>().resolves.toBeString();
    expectTypeOf<Saving["taken"]>().resolves.toBeVoid();
    expectTypeOf<RestoredTree>().toExtend<Saveable>();
    expectTypeOf<Store["close"]>().returns.resolves.toBeVoid();
    expectTypeOf<Store>().toExtend<AsyncDisposable>();
  });

  it("of an opened step and a checkpoint are these", () => {
    expectTypeOf<OpenedStep["leaves"]>().toEqualTypeOf<readonly LeafInfo[]>();
    expectTypeOf<OpenedStep["items"]>().toEqualTypeOf<Readonly<Record<string, OpenedCheckpoint>>>();
    expectTypeOf<OpenedStep["requiredLimits"]>().toEqualTypeOf<() => BufferLimits>();
    expectTypeOf<BufferLimits>().toExtend<NonNullable<GPUDeviceDescriptor["requiredLimits"]>>();
    expectTypeOf<Checkpoint["leaf"]>().toEqualTypeOf<(item: string, path: string) => RestoredLeaf | undefined>();
    expectTypeOf<Checkpoint["destroy"]>().toEqualTypeOf<() => void>();
    expectTypeOf<Checkpoint["metadata"]>().toEqualTypeOf<CheckpointMetadata>();
  });

  it("of openCheckpoint are these", () => {
    expectTypeOf(orbax.openCheckpoint).toBeCallableWith("https://localhost/run", {
      step: 5,
      item: "model",
      generation: 3n,
      enableX64: true,
    });
    expectTypeOf(orbax.openCheckpoint<undefined>).toEqualTypeOf<
      (source: CheckpointDirectory, options?: OpenOptions<undefined>) => Promise<OpenedCheckpoint<undefined>>
    >();
    expectTypeOf<OpenedCheckpoint["kind"]>().toEqualTypeOf<CheckpointKind>();
    expectTypeOf<CheckpointKind>().toEqualTypeOf<"root" | "step" | "v1" | "item" | "direct" | "array" | "process">();
    expectTypeOf<OpenedCheckpoint["layout"]>().toEqualTypeOf<ItemLayout>();
    expectTypeOf<OpenedCheckpoint["metadata"]>().toEqualTypeOf<OrbaxMetadata>();
    expectTypeOf<OpenedCheckpoint["step"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<OpenedCheckpoint["item"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<OpenedCheckpoint["path"]>().toBeString();
    expectTypeOf<OrbaxMetadata["commitTimestampNsecs"]>().toEqualTypeOf<bigint | undefined>();
    expectTypeOf<OrbaxMetadata["record"]>().toEqualTypeOf<CheckpointMetadata | undefined>();
    expectTypeOf<LeafInfo["storedBytes"]>().toEqualTypeOf<number | undefined>();
  });

  it("of records are these", () => {
    expectTypeOf<CheckpointMetadata>().toEqualTypeOf<{
      readonly format: string;
      readonly formatVersion: number;
      readonly step: number;
      readonly epoch: number | null;
      readonly items: readonly string[];
      readonly libraries: Readonly<Record<string, string>>;
      readonly producer: Producer | null;
      readonly metrics: Readonly<Record<string, number>>;
      readonly extra: Readonly<Record<string, PlainJson>>;
      readonly createdAt: string;
    }>();
    expectTypeOf<Producer>().toEqualTypeOf<{ readonly name: string; readonly version: string }>();
    expectTypeOf(orbax.CheckpointMetadata.fromDict).toEqualTypeOf<(payload: unknown) => CheckpointMetadata>();
    expectTypeOf(orbax.CheckpointMetadata.toDict).toEqualTypeOf<(metadata: CheckpointMetadata) => Record<string, PlainJson>>();
  });

  it("of storages are these", () => {
    expectTypeOf(orbax.httpStorage).toEqualTypeOf<(url: string | URL, options?: HttpStorageOptions) => ReadableStorage>();
    expectTypeOf(orbax.writeIndex).toBeCallableWith(orbax.memoryStorage(), { signal: AbortSignal.timeout(1) });
    expectTypeOf(orbax.writeIndex).returns.resolves.toBeVoid();
    expectTypeOf(orbax.memoryStorage).returns.toEqualTypeOf<WritableStorage>();
    expectTypeOf(orbax.opfsStorage).toEqualTypeOf<(folder?: string) => WritableStorage>();
    expectTypeOf(orbax.directoryStorage).toEqualTypeOf<(handle: FileSystemDirectoryHandle) => WritableStorage>();
    expectTypeOf(orbax.recallDirectory).toEqualTypeOf<(name: string) => Promise<FileSystemDirectoryHandle | undefined>>();
    expectTypeOf(node.nodeStorage).toBeCallableWith("checkpoints");
    expectTypeOf(node.nodeStorage).returns.toExtend<WritableStorage>();
    expectTypeOf(orbax.resolveCheckpointDir).toEqualTypeOf<
      (checkpointDir: string | null | undefined, runDir: string | null | undefined) => string
    >();
  });

  it("of arrays and templates are these", () => {
    expectTypeOf<HostArray<"int64">["data"]>().toEqualTypeOf<BigInt64Array>();
    expectTypeOf<HostArray<"bfloat16">["data"]>().toEqualTypeOf<Uint16Array>();
    expectTypeOf<GpuArray["buffer"]>().toEqualTypeOf<GPUBuffer>();
    expectTypeOf<GpuArray<"float32">["read"]>().returns.resolves.toEqualTypeOf<HostArray<"float32">>();
    expectTypeOf(orbax.shapeDtypeStruct([2], "float32")).toEqualTypeOf<ShapeDtypeStruct<"float32", undefined>>();
    const device = {} as GPUDevice;
    expectTypeOf(orbax.shapeDtypeStruct([2], "float32", { device })).toEqualTypeOf<ShapeDtypeStruct<"float32", GPUDevice>>();
  });

  it("of errors are these", () => {
    const error: unknown = new orbax.CheckpointValueError("wrong");
    if (orbax.isCheckpointError(error, "DtypeMismatch")) {
      expectTypeOf(error.mismatches).toEqualTypeOf<readonly DtypeMismatch[]>();
      expectTypeOf(error.x64Disabled).toBeBoolean();
    }
    if (orbax.isCheckpointError(error, "TreeMismatch")) expectTypeOf(error.mismatches).toEqualTypeOf<readonly TreeMismatch[]>();
    if (orbax.isCheckpointError(error, "NotWritten")) {
      expectTypeOf(error.reason).toEqualTypeOf<"exists" | "below_latest" | "rejected">();
      expectTypeOf(error.latestStep).toEqualTypeOf<number | null>();
    }
    expect(orbax.isCheckpointError(error, "Value")).toBe(true);
  });
});
